// Ambient contexts observe calls with plain arguments, each once, and change nothing.
#include "catch.hpp"

#include <overdub/ambient.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
using od::contexts::count_each;
using od::contexts::log;

constexpr auto area = od::leaf<"area">([](double r) { return 3 * r * r; }, od::effects::pure);
constexpr auto twice = od::fn<"twice">([](auto x) { return x + x; });
constexpr auto four_times = od::fn<"four_times">([](auto x) { return twice(twice(x)); });
constexpr auto shout = od::fn<"shout">([](std::string text) { return text + "!"; });
constexpr auto less = od::fn<"less">([](double a, double b) { return a < b; });
constexpr auto refuse = od::fn<"refuse">([](int i) -> int {
  if (i > 0) throw std::runtime_error("refused");
  return i;
});
constexpr auto sum = od::fn<"sum">([](auto... x) { return (x + ...); });
constexpr auto take = od::fn<"take">([](std::unique_ptr<int> p) { return *p; });
constexpr auto nothing = od::fn<"nothing">([](int) {});

struct shop {
  std::vector<double> radii{1, 2};
  double total() const {
    double all = 0;
    for (double const r : radii) all += area(r) + twice(r);
    return all;
  }
};
constexpr auto total = od::fn<"total">([](shop const& s) { return s.total(); });

// Writes each hook that is called, with its arguments.
struct recorder : od::context {
  std::vector<std::string> lines;

  void before(od::callee auto f, auto const&... x) { add(std::string(f.name()), x...); }
  void after(od::callee auto f, auto const& result, auto const&... x) {
    add(std::string(f.name()) + " returns", result, x...);
  }
  void failed(od::callee auto f, std::exception_ptr, auto const&... x) {
    add(std::string(f.name()) + " fails", x...);
  }
  void add(std::string const& what, auto const&... x) {
    std::ostringstream line;
    line << what;
    ((x ? void(line << ' ' << x) : void(line << " ?")), ...);
    lines.push_back(line.str());
  }
};

// Writes the names of calls after its own.
struct named : od::context {
  recorder* to;
  std::string name;
  named(recorder& r, std::string n) : to(&r), name(std::move(n)) {}
  void before(od::callee auto f, auto const&...) { to->lines.push_back(name + " " + std::string(f.name())); }
  void after(od::callee auto f, auto const&...) {
    to->lines.push_back(name + " after " + std::string(f.name()));
  }
};
struct refusing : od::context {
  void before(od::callee auto, auto const&...) { throw std::runtime_error("no calls"); }
};
struct refusing_ends : od::context {
  void after(od::callee auto, auto const&, auto const&...) { throw std::runtime_error("no ends"); }
  void failed(od::callee auto, std::exception_ptr, auto const&...) {
    throw std::runtime_error("no failures");
  }
};
struct listening_sometimes : od::context {
  std::atomic<bool> on{false};
  int calls = 0;
  std::atomic<bool> const& listens() const { return on; }
  void before(od::callee auto, auto const&...) { ++calls; }
  void after(od::callee auto, auto const&, auto const&...) { ++calls; }
};
struct beginning : od::context {
  void before(od::callee auto, auto const&...) { od::ambient const with(count_each{}); }
};
struct calling : od::context {
  int calls = 0;
  void before(od::callee auto, auto const&...) { calls += four_times(1) / 4; }
};

using lines = std::vector<std::string>;

TEST_CASE("an ambient log has the calls in methods, as a tree") {
  std::ostringstream out;
  log l(out);
  shop const s;
  {
    od::ambient const with(l);
    CHECK(total(s) == 21);
  }
  CHECK(total(s) == 21);
  CHECK(
      out.str() == "total(shop)\n"
                   "  area(1) = 3\n"
                   "  twice(1) = 2\n"
                   "  area(2) = 12\n"
                   "  twice(2) = 4\n"
                   "= 21\n");
}

TEST_CASE("calls in algorithms and callbacks of the standard library are observed") {
  count_each c;
  od::ambient const with(c);
  std::vector<double> v{3, 1, 2};
  std::sort(v.begin(), v.end(), less);
  CHECK(v == std::vector<double>{1, 2, 3});
  CHECK(c.calls("less") >= 2);
  std::function<double(double)> const f = twice;
  CHECK(std::transform_reduce(v.begin(), v.end(), 0.0, std::plus<>(), f) == 12);
  CHECK(c.calls("twice") == 3);
}

TEST_CASE("hooks have numbers, texts and elements, and the names of other types") {
  recorder r;
  od::ambient const with(r);
  twice(2);
  twice(1.5f);
  twice(7u);
  sum(true, 'a');
  shout(std::string("hi"));
  constexpr auto size = od::leaf<"size">([](auto const& x) { return x.size(); });
  size(std::vector<double>{1, 2});
  size(std::vector<shop>{});
  nothing(3);
  CHECK(
      r.lines == lines{
                     "twice 2", "twice returns 4 2", "twice 1.5", "twice returns 3 1.5", "twice 7",
                     "twice returns 14 7", "sum 1 a", "sum returns 98 1 a", "shout hi", "shout returns hi! ?",
                     "size 2 elements", "size returns 2 ?",
                     "size " + std::string(od::type_name<std::vector<shop>>()), "size returns 0 ?",
                     "nothing 3", "nothing returns none 3"});
}

TEST_CASE("an argument that is no number is not read after the call, which may have changed it") {
  recorder r;
  od::ambient const with(r);
  std::string const kept = "kept";
  shout(kept);
  shout(std::string("consumed"));
  CHECK(take(std::make_unique<int>(4)) == 4);
  CHECK(r.lines[1] == "shout returns kept! ?");
  CHECK(r.lines[3] == "shout returns consumed! ?");
  CHECK(r.lines[5] == "take returns 4 ?");
}

TEST_CASE("a call with more than eight arguments is observed with the first seven") {
  recorder r;
  od::ambient const with(r);
  sum(1, 2, 3, 4, 5, 6, 7, 8);
  sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  constexpr auto zero = od::fn<"zero">([] { return 0; });
  zero();
  CHECK(
      r.lines == lines{
                     "sum 1 2 3 4 5 6 7 8", "sum returns 36 1 2 3 4 5 6 7 8", "sum 1 2 3 4 5 6 7 ?",
                     "sum returns 55 1 2 3 4 5 6 7 ?", "zero", "zero returns 0"});
}

TEST_CASE("the first context is the outermost, and an older one is outside of a newer one") {
  recorder r;
  named a(r, "a"), b(r, "b");
  od::ambient const outer(a, b);
  od::ambient const inner(named(r, "c"));
  twice(1);
  CHECK(r.lines == lines{"a twice", "b twice", "c twice", "c after twice", "b after twice", "a after twice"});
}

TEST_CASE("exceptions are observed and go on") {
  recorder r;
  od::ambient const with(r);
  CHECK_THROWS_WITH(refuse(1), "refused");
  CHECK(r.lines == lines{"refuse 1", "refuse fails 1"});
  refuse(0);
  CHECK(r.lines.back() == "refuse returns 0 0");
}

TEST_CASE("a hook that throws ends the call for the contexts outside of it") {
  recorder outer, inner;
  refusing between;
  od::ambient const with(outer, between, inner);
  CHECK_THROWS_WITH(twice(1), "no calls");
  CHECK(outer.lines == lines{"twice 1", "twice fails 1"});
  CHECK(inner.lines.empty());
  CHECK_THROWS_WITH(twice(1), "no calls"); // still observed
  CHECK(outer.lines.size() == 4);
}

TEST_CASE("what hooks call is not observed") {
  calling c;
  count_each outer;
  od::ambient const with(outer, c);
  twice(1);
  CHECK(c.calls == 1);
  CHECK(outer.callees().size() == 1);
}

TEST_CASE("a call is observed once: by the contexts of its arguments, or by ambient ones") {
  count_each ambient, explicit_one;
  od::ambient const with(ambient);
  // four_times and its twice calls have values of the run; table has a plain argument.
  constexpr auto table = od::fn<"table">([](int i) { return twice(i); });
  constexpr auto mixed =
      od::fn<"mixed">([=](auto x) { return four_times(x) + od::convert<double>(table(5)); });
  CHECK(od::run(explicit_one, mixed, 2.0) == 18);
  CHECK(explicit_one.calls("mixed") == 1);
  CHECK(explicit_one.calls("four_times") == 1);
  CHECK(explicit_one.calls("twice") == 2);
  CHECK(explicit_one.calls("table") == 0);
  CHECK(ambient.callees().size() == 2);
  CHECK(ambient.calls("table") == 1);
  CHECK(ambient.calls("table", "twice") == 1);
  // Without a run, all of them.
  CHECK(mixed(2.0) == 18);
  CHECK(ambient.calls("twice") == 4);
  CHECK(ambient.calls("mixed", "four_times") == 1);
  // A derivative's own calls are of its context.
  CHECK(od::run(od::contexts::forward{}, four_times, od::tag(1.0, 1.0)).metadata == 4);
  CHECK(ambient.calls("four_times") == 1);
}

TEST_CASE("contexts that begin or end during a call observe calls as a whole") {
  recorder whole, within;
  std::unique_ptr<od::ambient<od::composition<od::borrowed<recorder>>>> late;
  auto const begin = od::fn<"begin">([&](int i) {
    late = std::make_unique<od::ambient<od::composition<od::borrowed<recorder>>>>(within);
    twice(i);
    return i;
  });
  auto const end = od::fn<"end">([&](int i) {
    late.reset();
    return i;
  });
  od::ambient const with(whole);
  begin(1);
  end(2);
  CHECK(within.lines == lines{"twice 1", "twice returns 2 1", "end 2"});
  CHECK(
      whole.lines ==
      lines{"begin 1", "twice 1", "twice returns 2 1", "begin returns 1 1", "end 2", "end returns 2 2"});
}

TEST_CASE("a hook that throws at the end of a call ends it for the contexts outside of it") {
  recorder outer;
  refusing_ends inner;
  od::ambient const with(outer, inner);
  CHECK_THROWS_WITH(twice(1), "no ends");
  CHECK(outer.lines == lines{"twice 1", "twice fails 1"});
  CHECK_THROWS_WITH(refuse(1), "no failures");
  CHECK(outer.lines.back() == "refuse fails 1");
}

TEST_CASE("leaves receive the caller's objects, and change them") {
  recorder r;
  od::ambient const with(r);
  constexpr auto grow = od::leaf<"grow">([](std::vector<double>& v, int& size) {
    v.push_back(3);
    size = static_cast<int>(v.size());
    return size;
  });
  constexpr auto address = od::leaf<"address">([](double const& x) { return &x; });
  constexpr auto drain = od::leaf<"drain">([](int&& x) { return std::exchange(x, 0); });
  std::vector<double> v{1, 2};
  int size = 0;
  CHECK(grow(v, size) == 3);
  CHECK(size == 3);
  double const x = 1;
  CHECK(address(x) == &x);
  int y = 5;
  CHECK(drain(std::move(y)) == 5);
  CHECK(y == 0);
  CHECK(r.lines[0] == "grow 2 elements ?"); // size may have no value yet
  CHECK(r.lines[1] == "grow returns 3 ? ?");
}

struct counting_moves {
  int copies = 0, moves = 0;
  counting_moves() = default;
  counting_moves(counting_moves const& c) : copies(c.copies + 1), moves(c.moves) {}
  counting_moves(counting_moves&& c) noexcept : copies(c.copies), moves(c.moves + 1) {}
};
TEST_CASE("a result is neither copied nor moved more often") {
  constexpr auto make = od::leaf<"make">([] { return counting_moves(); });
  auto const plain = make();
  recorder r;
  od::ambient const with(r);
  auto const observed = make();
  CHECK(observed.copies == plain.copies);
  CHECK(observed.moves == plain.moves);
}

// Not text, although it converts to it; and no range of numbers.
struct convertible {
  operator std::string_view() const { throw std::runtime_error("converted"); }
  template <class T>
  explicit operator T() const {
    throw std::runtime_error("converted");
  }
};
struct buffer {
  void const* data() const { return this; }
  std::size_t size() const { return 1; }
};
TEST_CASE("arguments are not converted, and pointers are not followed") {
  recorder r;
  od::ambient const with(r);
  constexpr auto ignore = od::leaf<"ignore">([](auto const&...) { return 0; });
  char const unterminated[3] = {'a', 'b', 'c'};
  ignore(
      convertible(), buffer(), static_cast<char const*>(nullptr), unterminated, "text",
      std::string("string"));
  CHECK(r.lines[0].starts_with("ignore convertible buffer "));
  CHECK(r.lines[0].ends_with(" abc text string"));
}

TEST_CASE("calls through a scope are observed") {
  count_each c;
  od::ambient const with(c);
  constexpr auto factorial = od::fn<"factorial">(
      [](od::scope auto& cx, auto n) -> decltype(n) { return n < 2 ? n : n * cx.self(n - 1); });
  constexpr auto by_scope =
      od::fn<"by_scope">([](od::scope auto& cx, auto x) { return cx(twice, x) + cx(area, 1.0); });
  CHECK(factorial(5) == 120);
  CHECK(c.calls("factorial") == 5);
  by_scope(1.0);
  CHECK(c.calls("by_scope", "twice") == 1);
  CHECK(c.calls("by_scope", "area") == 1);
  CHECK(od::run(od::compose(), twice, 1) == 2);
  CHECK(c.calls("twice") == 2);
}

TEST_CASE("a context that does not listen is not called for others") {
  count_each other;
  listening_sometimes quiet;
  od::ambient const with(other, quiet);
  twice(1);
  CHECK(quiet.calls == 0);
  quiet.on = true;
  twice(1);
  CHECK(quiet.calls == 2);
  auto const end = od::fn<"end">([&](int i) {
    quiet.on = false;
    return i;
  });
  end(1);
  CHECK(quiet.calls == 4); // both ends of the call
}

TEST_CASE("a call that an ambient context observes is not reported as unseen, and strict runs still throw") {
  count_each ambient;
  od::contexts::count c;
  constexpr auto hidden = od::fn<"hidden">([](auto x) { return x + twice(2); });
  od::run(c, hidden, 1.0);
  CHECK(c.unseen_calls == 1);
  {
    od::ambient const with(ambient);
    od::run(c, hidden, 1.0);
  }
  CHECK(c.unseen_calls == 1);
  CHECK(ambient.calls("twice") == 1);
}

TEST_CASE("a hook cannot begin an ambient context") {
  beginning b;
  od::ambient const with(b);
  CHECK_THROWS_WITH(twice(1), Catch::Contains("begin it before the call"));
}

TEST_CASE("extensions and derived contexts are ambient") {
  struct both : od::extends<count_each, od::contexts::trace> {
  } e;
  struct my_trace : od::contexts::trace {};
  od::ambient const with(e, my_trace());
  twice(1);
  CHECK(static_cast<count_each&>(e).calls("twice") == 1);
}

TEST_CASE("a thread observes its own calls") {
  count_each mine, other;
  od::ambient const with(mine);
  std::thread([&] {
    twice(1);
    od::ambient const here(other);
    four_times(1);
  }).join();
  twice(1);
  CHECK(mine.calls("twice") == 1);
  CHECK(other.calls("twice") == 2);
  CHECK(other.calls("four_times") == 1);
}

TEST_CASE("results that cannot be moved, and references, are returned") {
  struct pinned {
    int i;
    explicit pinned(int n) : i(n) {}
    pinned(pinned const&) = delete;
    pinned& operator=(pinned const&) = delete;
  };
  constexpr auto pin = od::leaf<"pin">([](int i) { return pinned(i); });
  recorder r;
  od::ambient const with(r);
  auto const p = pin(3);
  CHECK(p.i == 3);
  CHECK(r.lines == lines{"pin 3", "pin returns pinned 3"});
}

TEST_CASE("constant expressions are not observed") {
  static_assert(four_times(2) == 8);
  SUCCEED();
}

TEST_CASE("an ambient trace writes spans while a recording is active") {
  od::ambient const with(od::contexts::trace{});
  twice(1.0);
  od::contexts::recording r;
  four_times(1.0);
  CHECK(r.statistics().records == 6);
}

TEST_CASE("an ambient profile has call paths") {
  od::contexts::profile p;
  {
    od::ambient const with(p);
    four_times(1.0);
  }
  CHECK(p.paths().size() == 2);
  CHECK(p.functions().size() == 2);
}

} // namespace
