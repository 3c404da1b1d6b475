// Calls with plain arguments in the bodies of functions that run in contexts are counted, and reported where they are made.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

#include <sstream>
#include <string>
#include <utility>

namespace {

namespace od = overdub;
static_assert(od::counts_unseen_calls);

constexpr auto table = od::fn<"table">([](int n) { return 2.0 * n; });
constexpr auto gain = od::leaf<"gain">([](double x) { return table(3) * x; });
constexpr auto twice = od::fn<"twice">([](auto x) { return x + x; });
// Three calls are not seen: two of table, and one of gain. gain's own call of table is outside of the run.
constexpr auto hidden = od::fn<"hidden">([](auto x) {
  auto const y = twice(x);
  auto const z = y * table(1);
  auto const u = z + table(2);
  return u + gain(0.5);
});
constexpr auto outer = od::fn<"outer">([](auto x) { return hidden(x) + gain(x); });
constexpr auto mapped = od::fn<"mapped">(
    [](auto const& xs) { return od::sum(od::map([](auto x) { return x * table(2); }, xs)); });

TEST_CASE("count has the number of unseen calls") {
  od::contexts::count c;
  od::run(c, outer, 1.0);
  CHECK(c.unseen_calls == 3);
  od::run(c, twice, 1.0);
  CHECK(c.unseen_calls == 3);
  table(1); // outside of all runs
  CHECK(c.unseen_calls == 3);
}

TEST_CASE("count_each has the caller and the callee of each unseen call") {
  od::contexts::count_each c;
  od::run(c, outer, 1.0);
  using edge = std::pair<std::string_view, std::string_view>;
  REQUIRE(c.unseen_calls().size() == 2);
  CHECK(c.unseen_calls().at(edge("hidden", "table")) == 2);
  CHECK(c.unseen_calls().at(edge("hidden", "gain")) == 1);
  CHECK(c.calls("table") == 0);
}

constexpr auto of_constants = od::fn<"of_constants">([](auto x) {
  using T = decltype(x);
  T const two = T(1) + T(1);
  return x * twice(two) + gain(T(0.5));
});

TEST_CASE("calls of constants alone are unseen, but for contexts without state") {
  od::contexts::count_each c;
  CHECK(od::run(c, of_constants, 1.0) == 4.0 + gain(0.5));
  using edge = std::pair<std::string_view, std::string_view>;
  REQUIRE(c.unseen_calls().size() == 3);
  CHECK(c.unseen_calls().at(edge("of_constants", "add")) == 1);
  CHECK(c.unseen_calls().at(edge("of_constants", "twice")) == 1);
  CHECK(c.unseen_calls().at(edge("of_constants", "gain")) == 1);
  CHECK(c.calls("mul") == 1);
  // forward has no state, and intercepts them; count counts them as unseen.
  constexpr auto without_leaf =
      od::fn<"without_leaf">([](auto x) { return x * twice(decltype(x)(1) + decltype(x)(1)); });
  od::contexts::count in_two;
  CHECK(
      od::run(od::compose(in_two, od::contexts::forward{}), without_leaf, od::tag(1.0, 1.0)).metadata == 4.0);
  CHECK(in_two.unseen_calls == 2);
}

TEST_CASE("functions that control primitives call are watched, too") {
  od::contexts::count_each c;
  od::run(c, mapped, od::array<double>{1, 2, 3});
  using edge = std::pair<std::string_view, std::string_view>;
  REQUIRE(c.unseen_calls().size() == 1);
  CHECK(c.unseen_calls().at(edge("<lambda>", "table")) == 3);
}

struct silent : od::context {
  int calls = 0;
  void before(od::callee auto, auto const&...) { ++calls; }
};

TEST_CASE("the hook of each context of a composition is called once for an unseen call") {
  od::contexts::count a, b;
  silent s;
  od::run(od::compose(a, s, b), hidden, 1.0);
  CHECK(a.unseen_calls == 3);
  CHECK(b.unseen_calls == 3);
  struct both : od::extends<od::contexts::count, od::contexts::count_each> {
  } e;
  od::run(e, hidden, 1.0);
  CHECK(static_cast<od::contexts::count&>(e).unseen_calls == 3);
  CHECK(static_cast<od::contexts::count_each&>(e).unseen_calls().size() == 2);
}

constexpr auto nested = od::fn<"nested">([](auto x) {
  od::contexts::forward f;
  return x + od::run(
                 f, [](auto y) { return y * table(1); }, od::tag(1.0, 1.0))
                 .inner;
});
struct ruling : od::context {
  auto overdub(od::mul_t, auto x, auto y) { return x * y * table(1); }
  void before(od::add_t, auto const&...) { table(1); }
};
TEST_CASE("what rules, hooks and other runs call is not reported for the body around them") {
  od::contexts::count c;
  od::run(c, nested, 1.0);
  CHECK(c.unseen_calls == 0);
  od::run(
      od::compose(c, ruling()), [](auto x) { return x * x + x; }, 1.0);
  CHECK(c.unseen_calls == 0);
}

TEST_CASE("a log has a line where an unseen call is made") {
  std::ostringstream out;
  od::contexts::log l(out);
  od::run(
      l,
      [](auto x) {
        auto const y = twice(x);
        return y * table(1);
      },
      1.0);
  od::run(l, hidden, 1.0);
  CHECK(
      out.str() == "twice(1)\n"
                   "  add(1, 1) = 2\n"
                   "= 2\n"
                   "table is called with plain arguments, and is not seen: cx(table, ...)\n"
                   "mul(2, 2) = 4\n"
                   "hidden(1)\n"
                   "  twice(1)\n"
                   "    add(1, 1) = 2\n"
                   "  = 2\n"
                   "  table is called with plain arguments, and is not seen: cx(table, ...)\n"
                   "  mul(2, 2) = 4\n"
                   "  table is called with plain arguments, and is not seen: cx(table, ...)\n"
                   "  add(4, 4) = 8\n"
                   "  gain is called with plain arguments, and is not seen: cx(gain, ...)\n"
                   "  add(8, 3) = 11\n"
                   "= 11\n");
}

TEST_CASE("a profile's table ends with the unseen calls") {
  od::contexts::profile p;
  od::run(p, outer, 1.0);
  std::ostringstream out;
  out << p;
  CHECK_THAT(
      out.str(), Catch::EndsWith("not seen: gain, called with plain arguments in hidden, 1 time\n"
                                 "not seen: table, called with plain arguments in hidden, 2 times\n"));
}

TEST_CASE("a trace has a span for an unseen call") {
  od::contexts::recording r;
  od::run(od::contexts::trace{}, hidden, 1.0);
  CHECK_THAT(
      r.text(od::contexts::trace_format::chrome),
      Catch::Contains("not seen: table") && Catch::Contains("not seen: gain"));
}

struct calling : od::context {
  int unseen_calls = 0;
  void unseen(std::string_view, std::string_view) { unseen_calls += table(1) > 0; }
};

TEST_CASE("hooks of unseen calls may call functions") {
  calling c;
  od::run(c, hidden, 1.0);
  CHECK(c.unseen_calls == 3);
}

} // namespace
