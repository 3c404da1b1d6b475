// The order in which hooks observe calls, as exact lists, and the arguments of hooks.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <concepts>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace {

using namespace overdub;

TEST_CASE("before is called in pre-order") {
  events list;
  recorder<"A"> a(list);
  auto const result = overdub::run(a, norm, 3.0, 4.0);
  CHECK(result == 5.0);
  CHECK(list == events{"A norm", "A square", "A mul", "A square", "A mul", "A add", "A sqrt"});
}

TEST_CASE("after is called in post-order") {
  events list;
  end_recorder<"A"> a(list);
  overdub::run(a, norm, 3.0, 4.0);
  CHECK(
      list == events{
                  "A after mul", "A after square", "A after mul", "A after square", "A after add",
                  "A after sqrt", "A after norm"});
}

TEST_CASE("extends merges the hooks of several contexts") {
  events list;
  full_recorder<"A"> a(list);
  overdub::run(a, square, 3.0);
  CHECK(list == events{"A square", "A mul", "A after mul", "A after square"});
}

TEST_CASE("in a composition the inner context observes each call right after the outer one") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  overdub::run(compose(a, b), norm, 3.0, 4.0);
  CHECK(
      list == events{
                  "A norm", "B norm.A", "A square", "B square.A", "A mul", "B mul", "A square", "B square.A",
                  "A mul", "B mul", "A add", "B add", "A sqrt", "B sqrt"});
}

TEST_CASE("in a composition the inner context observes the end of a call first") {
  events list;
  full_recorder<"A"> a(list);
  full_recorder<"B"> b(list);
  overdub::run(compose(a, b), square, 3.0);
  CHECK(
      list == events{
                  "A square", "B square.A", "A mul", "B mul", "B after mul", "A after mul",
                  "B after square.A", "A after square"});
}

TEST_CASE("a third context observes functions that the two others derived") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  recorder<"C"> c(list);
  overdub::run(compose(a, b, c), square, 3.0);
  CHECK(list == events{"A square", "B square.A", "C square.A.B", "A mul", "B mul", "C mul"});
}

struct sqrt_by_logarithm : recorder<"A"> {
  using recorder::recorder;
  auto overdub(sqrt_t, auto x) {
    auto l = overdub::log(x);
    auto half = l / 2.0;
    return overdub::exp(half);
  }
};

TEST_CASE("the next context observes the calls that a rule makes, and the rule's own context does not") {
  events list;
  sqrt_by_logarithm a(list);
  overdub::run(
      a, [](auto x) { return overdub::sqrt(x) + 1.0; }, 4.0);
  CHECK(list == events{"A sqrt", "A add"});
  list.clear();
  recorder<"B"> b(list);
  overdub::run(
      compose(a, b), [](auto x) { return overdub::sqrt(x); }, 4.0);
  CHECK(list == events{"A sqrt", "B log", "B div", "B exp"});
}

constexpr auto pick = fn<"pick">([](auto xs) {
  auto x = xs[7];
  return x * 2.0;
});

TEST_CASE("failed is called instead of after, innermost first, and the exception propagates") {
  events list;
  full_recorder<"A"> a(list);
  full_recorder<"B"> b(list);
  CHECK_THROWS_AS(overdub::run(a, pick, array<double>{1.0}), index_error);
  CHECK(list == events{"A pick", "A at", "A failed at", "A failed pick"});
  list.clear();
  CHECK_THROWS_AS(overdub::run(compose(a, b), pick, array<double>{1.0}), index_error);
  CHECK(
      list == events{
                  "A pick", "B pick.A", "A at", "B at", "B failed at", "A failed at", "B failed pick.A",
                  "A failed pick"});
}

TEST_CASE("failed observes an exception of a user's native function and of a rule") {
  struct failing_rule : full_recorder<"A"> {
    using full_recorder::full_recorder;
    double overdub(sin_t, double) { throw std::domain_error("no sine"); }
  };
  events list;
  failing_rule a(list);
  CHECK_THROWS_WITH(
      overdub::run(
          a, [](auto x) { return overdub::sin(x); }, 1.0),
      "no sine");
  CHECK(list == events{"A sin", "A failed sin"});
  list.clear();
  constexpr auto refuse = leaf<"refuse">([](double) -> double { throw std::runtime_error("refused"); });
  CHECK_THROWS_WITH(
      overdub::run(
          a, [=](auto x) { return refuse(x); }, 1.0),
      "refused");
  CHECK(list == events{"A refuse", "A failed refuse"});
}

TEST_CASE("failed receives the exception and the arguments, also moved ones") {
  struct keeping : context {
    std::string what;
    double first = 0.0;
    void failed(update_t, std::exception_ptr exception, array<double> const& xs, i64, double) {
      try {
        std::rethrow_exception(exception);
      } catch (std::exception const& e) {
        what = e.what();
      }
      first = xs[0];
    }
  };
  keeping c;
  auto const f = [](auto xs) { return update(std::move(xs), 5, 1.0); };
  CHECK_THROWS_AS(overdub::run(c, f, array<double>{7.0}), index_error);
  CHECK_THAT(c.what, Catch::Contains("5") && Catch::Contains("1"));
  CHECK(c.first == 7.0);
}

TEST_CASE("hooks observe an exception that the program catches, and the run continues") {
  events list;
  full_recorder<"A"> a(list);
  auto const f = [](auto xs) {
    try {
      return pick(xs);
    } catch (index_error const&) {
      return xs[0] + 1.0;
    }
  };
  CHECK(overdub::run(a, f, array<double>{1.0}) == 2.0);
  CHECK(
      list ==
      events{"A pick", "A at", "A failed at", "A failed pick", "A at", "A after at", "A add", "A after add"});
}

struct named_and_family : context {
  events list;
  void before(sqrt_t, double) { list.push_back("the hook for sqrt"); }
  void before(callee auto f, auto const&...) { list.push_back(std::string(f.name())); }
  void after(arithmetic auto f, auto const&, auto const&...) {
    list.push_back("arithmetic " + std::string(f.name()));
  }
};

TEST_CASE("a hook that names its callee is preferred to one for a family; a family hook observes its family "
          "alone") {
  named_and_family c;
  overdub::run(c, norm, 3.0, 4.0);
  CHECK(
      c.list == events{
                    "norm", "square", "mul", "arithmetic mul", "square", "mul", "arithmetic mul", "add",
                    "arithmetic add", "the hook for sqrt"});
}

struct exact : context {
  int calls = 0;
  template <class... X>
  void before(callee auto, X const&...) {
    static_assert(
        ((std::same_as<X, double> || std::same_as<X, array<double>> || std::same_as<X, i64> ||
          std::same_as<X, std::pair<double, i64>>)&&...));
    ++calls;
  }
};

TEST_CASE("hooks receive concrete numbers and arrays, without the wrapping of any context") {
  exact outer;
  exact inner;
  constexpr auto spread = fn<"spread">([](auto p, auto xs) { return p.first * xs[p.second]; });
  overdub::run(compose(outer, inner), spread, std::pair{2.0, i64{1}}, array<double>{1.0, 2.0});
  CHECK(outer.calls == 3);
  CHECK(inner.calls == 3);
}

TEST_CASE("hooks receive the handle of an array, not a copy of its elements") {
  struct address : context {
    double const* data = nullptr;
    void before(array_size_t, array<double> const& xs) { data = xs.data(); }
  };
  address c;
  array<double> const xs{1.0, 2.0};
  overdub::run(c, overdub::size, xs);
  CHECK(c.data == xs.data());
}

struct raw_hooks : context {
  template <class T>
  using metadata = int;
  std::vector<int> seen;
  int constant(auto const&) { return -1; }
  auto overdub(mul_t, auto x, auto y) { return tag(x.inner * y.inner, x.metadata + y.metadata); }
  void before(raw, mul_t, auto const& x, auto const& y) { seen = {x.metadata, y.metadata}; }
  void after(raw, mul_t, auto const& result, auto const&, auto const&) { seen.push_back(result.metadata); }
};

TEST_CASE("raw hooks receive arguments and results with their metadata") {
  raw_hooks c;
  overdub::run(
      c, [](auto x, auto y) { return x * y; }, tag(2.0, 10), tag(3.0, 20));
  CHECK(c.seen == std::vector{10, 20, 30});
  overdub::run(
      c, [](auto x) { return x * 5.0; }, tag(2.0, 10));
  CHECK(c.seen == std::vector{10, -1, 9});
}

TEST_CASE("without_hooks keeps the rules and the metadata, and observes nothing") {
  raw_hooks c;
  auto quiet = without_hooks(c);
  auto const r = overdub::run(
      quiet, [](auto x, auto y) { return x * y; }, tag(2.0, 10), tag(3.0, 20));
  CHECK(r.inner == 6.0);
  CHECK(r.metadata == 30);
  CHECK(quiet.seen.empty());
}

struct recursing : recorder<"A"> {
  using recorder::recorder;
  auto overdub(rule_call auto call, decltype(square), auto x) { return call.recurse(x) + 1.0; }
};

TEST_CASE("hooks observe calls inside of a recursing rule, but not the recursed call itself") {
  events list;
  recursing a(list);
  CHECK(overdub::run(a, square, 3.0) == 10.0);
  CHECK(list == events{"A square", "A mul"});
}

} // namespace
