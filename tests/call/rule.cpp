// Which rule applies to a call, and what rules can do.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <map>
#include <string>
#include <type_traits>

namespace {

using namespace overdub;
using overdub::cos, overdub::exp, overdub::sin, overdub::sqrt;

struct named_and_family : context {
  std::string last;
  auto overdub(sin_t, auto x) { return last = "sin", sin(x); }
  auto overdub(math auto f, auto... x) { return last = "math", f(x...); }
  auto overdub(callee auto f, auto... x) { return last = "callee", f(x...); }
};

TEST_CASE("a rule that names the callee is preferred to a family, a narrow family to a wide one") {
  named_and_family c;
  CHECK(
      overdub::run(
          c, [](auto x) { return sin(x); }, 1.0) == sin(1.0));
  CHECK(c.last == "sin");
  overdub::run(
      c, [](auto x) { return cos(x); }, 1.0);
  CHECK(c.last == "math");
  overdub::run(
      c, [](auto x) { return x + x; }, 1.0);
  CHECK(c.last == "callee");
}

struct louder : context {
  auto overdub(arithmetic auto f, auto... x) { return 2.0 * f(x...); }
};

TEST_CASE("a family's rule applies to its family alone") {
  louder c;
  CHECK(
      overdub::run(
          c, [](auto x) { return x + x; }, 1.0) == 4.0);
  CHECK(
      overdub::run(
          c, [](auto x) { return exp(x); }, 1.0) == exp(1.0));
  CHECK(
      overdub::run(
          c, [](auto x) { return sqrt(x * x); }, 3.0) == sqrt(18.0));
}

struct doubling : context {
  int calls = 0;
  auto overdub(sin_t, auto x) {
    ++calls;
    return sin(x) * 2.0;
  }
};

TEST_CASE("a rule that calls its own callee does not loop, since it runs outside of its context") {
  doubling c;
  CHECK(
      overdub::run(
          c, [](auto x) { return sin(x); }, 1.0) == 2.0 * sin(1.0));
  CHECK(c.calls == 1);
  doubling d;
  CHECK(
      overdub::run(
          compose(c, d), [](auto x) { return sin(x); }, 1.0) == 4.0 * sin(1.0));
  CHECK(c.calls == 2);
  CHECK(d.calls == 1);
}

constexpr auto slope = fn<"slope">([](auto x) { return exp(x) - x; });
constexpr auto twice_slope = fn<"twice_slope">([](auto x) { return slope(x) + slope(x); });

struct answer_slope : context {
  auto overdub(decltype(slope), auto x) { return x * 0.0 + 10.0; }
};

TEST_CASE("a rule for a user's function replaces its body, at any depth") {
  answer_slope c;
  CHECK(overdub::run(c, slope, 1.0) == 10.0);
  CHECK(overdub::run(c, twice_slope, 1.0) == 20.0);
  CHECK(
      overdub::run(
          c, [](auto x) { return twice_slope(x) + 1.0; }, 1.0) == 21.0);
}

struct outer_plain : recorder<"A"> {
  using recorder::recorder;
};
struct outer_with_metadata : recorder<"A"> {
  using recorder::recorder;
  template <class T>
  using metadata = int;
  int constant(auto const&) { return 0; }
};

TEST_CASE("a context without metadata passes a function to an inner context's rule, and observes the call") {
  events list;
  outer_plain a(list);
  answer_slope b;
  CHECK(overdub::run(compose(a, b), twice_slope, 1.0) == 20.0);
  CHECK(list == events{"A twice_slope", "A slope", "A slope", "A add"});
}

TEST_CASE("a context with metadata enters the function, and the inner context's rule does not apply") {
  events list;
  outer_with_metadata a(list);
  answer_slope b;
  auto const r = overdub::run(compose(a, b), slope, 1.0);
  CHECK(r.inner == exp(1.0) - 1.0);
  CHECK(list == events{"A slope", "A exp", "A sub"});
}

struct going_on : context {
  int fallbacks = 0;
  int recursions = 0;
  template <rule_call Call, class... X>
  auto overdub(Call call, sin_t, X... x) {
    ++fallbacks;
    return call.fallback(x...);
  }
  template <rule_call Call, class X>
  auto overdub(Call call, decltype(slope), X x) -> recurse_t<Call, decltype(slope), X> {
    ++recursions;
    return call.recurse(x);
  }
};

TEST_CASE("fallback calls one level down; recurse runs the body in the context") {
  going_on c;
  auto const program = [](auto x) { return sin(slope(sin(x))); };
  CHECK(overdub::run(c, program, 1.0) == program(1.0));
  CHECK(c.fallbacks == 2);
  CHECK(c.recursions == 1);
  going_on d;
  CHECK(overdub::run(compose(c, d), program, 1.0) == program(1.0));
  CHECK(d.fallbacks == 2);
}

TEST_CASE("can_recurse distinguishes functions, which have a body, from primitives") {
  going_on c;
  static_assert(std::is_same_v<decltype(can_recurse(c, slope, 1.0)), bool>);
  CHECK(can_recurse(c, slope, 1.0));
  CHECK_FALSE(can_recurse(c, sin, 1.0));
  CHECK_FALSE(can_recurse(c, overdub::map, slope));
}

struct log_of_primitives : context {
  events list;
  template <callee F, class... X>
  auto overdub(rule_call auto call, F f, X... x) {
    if constexpr (function<F>)
      return call.recurse(x...);
    else {
      list.emplace_back(f.name());
      return call.fallback(x...);
    }
  }
};

TEST_CASE("one rule for all callees can recurse into functions and record the primitives") {
  log_of_primitives c;
  CHECK(overdub::run(c, norm, 3.0, 4.0) == 5.0);
  CHECK(c.list == events{"mul", "mul", "add", "sqrt"});
}

constexpr auto fib = fn<"fib">([](scope auto& cx, auto n) -> decltype(n) {
  return if_(
      n < i64{2}, [&] { return n; }, [&] { return cx.self(n - i64{1}) + cx.self(n - i64{2}); });
});

struct memoizing : context {
  std::map<i64, i64> known;
  int bodies = 0;
  i64 overdub(rule_call auto call, decltype(fib), i64 n) {
    if (auto const found = known.find(n); found != known.end()) return found->second;
    ++bodies;
    i64 const result = call.recurse(n);
    return known[n] = result;
  }
};

TEST_CASE("a memoizing rule makes the recursive fib linear") {
  memoizing c;
  CHECK(overdub::run(c, fib, i64{80}) == 23416728348467685);
  CHECK(c.bodies == 81);
  CHECK(overdub::run(c, fib, i64{79}) == 14472334024676221);
  CHECK(c.bodies == 81);
}

struct inheriting : extends<answer_slope, louder> {
  using extends::overdub;
  auto overdub(sin_t, auto x) { return x; }
};

struct merged : extends<answer_slope, louder> {};

TEST_CASE("extends merges the rules of several contexts") {
  merged m;
  CHECK(
      overdub::run(
          m, [](auto x) { return slope(x) + x; }, 1.0) == 22.0);
  inheriting c;
  CHECK(
      overdub::run(
          c, [](auto x) { return slope(sin(x)); }, 1.0) == 10.0);
  CHECK(
      overdub::run(
          c, [](auto x) { return x + x; }, 1.0) == 4.0);
}

struct on_sines : context {
  int calls = 0;
  void before(sin_t, double) { ++calls; }
};
struct on_all : context {
  int calls = 0;
  void before(callee auto, auto const&...) { ++calls; }
};
struct on_raw : context {
  int calls = 0;
  void before(raw, callee auto, auto const&...) { ++calls; }
};
struct on_sines_and_raw : extends<on_sines, on_raw> {};
struct on_all_and_raw : extends<on_all, on_raw> {};
struct nested_extensions : extends<on_sines_and_raw, on_all> {};

TEST_CASE("hooks of all extended contexts are called, whether they take raw arguments or not") {
  auto const program = [](auto x) { return sin(x) + 2.0 * square(x); };
  on_raw alone;
  overdub::run(alone, program, 1.0);
  REQUIRE(alone.calls > 3);
  on_sines_and_raw a;
  overdub::run(a, program, 1.0);
  CHECK(a.on_sines::calls == 1);
  CHECK(a.on_raw::calls == alone.calls);
  on_all_and_raw b;
  overdub::run(b, program, 1.0);
  CHECK(b.on_all::calls == alone.calls);
  CHECK(b.on_raw::calls == alone.calls);
  nested_extensions c;
  overdub::run(c, program, 1.0);
  CHECK(c.on_sines::calls == 1);
  CHECK(c.on_raw::calls == alone.calls);
  CHECK(c.on_all::calls == alone.calls);
}

struct on_squares : context {
  int calls = 0;
  void before(decltype(square), auto const&...) { ++calls; }
};
struct on_squares_and_all : extends<on_squares, on_all> {};
struct other_products : context {
  auto overdub(mul_t, auto x, auto y) { return x + y; }
};

TEST_CASE("a hook that names a function observes its derived functions, also if the hook is inherited") {
  other_products a;
  on_squares b;
  on_squares_and_all c;
  auto const program = [](auto x) { return square(x) + 1.0; };
  overdub::run(compose(a, b), program, 3.0);
  REQUIRE(b.calls == 1);
  overdub::run(compose(a, c), program, 3.0);
  CHECK(c.on_squares::calls == 1);
  CHECK(c.on_all::calls > 1);
}

struct inherited_recursion : extends<going_on> {
  int exponentials = 0;
  using extends::overdub;
  auto overdub(exp_t f, auto x) { return ++exponentials, f(x); }
};

TEST_CASE("an inherited rule recurses into the context that inherits it") {
  inherited_recursion c;
  CHECK(overdub::run(c, slope, 1.0) == slope(1.0));
  CHECK(c.recursions == 1);
  CHECK(c.exponentials == 1);
}

constexpr auto answer = fn<"answer">([](scope auto& cx) { return cx(square, 6.0); });

struct going_on_without_arguments : context {
  auto overdub(rule_call auto call, decltype(answer)) { return call.recurse(); }
};

TEST_CASE("a rule recurses into a function without arguments, and inner contexts observe the calls in it") {
  events list;
  going_on_without_arguments a;
  recorder<"B"> b(list);
  auto const program = [](scope auto& cx, auto x) { return x + cx(answer); };
  CHECK(overdub::run(compose(a, b), program, 1.0) == 37.0);
  CHECK(list == events{"B square.going_on_without_arguments", "B mul", "B add"});
}

struct sum_of_metadata : context {
  template <class T>
  using metadata = int;
  int constant(auto const&) { return 1; }
  auto overdub(elementwise auto f, auto... x) { return tag(f(x.inner...), (x.metadata + ...)); }
};

TEST_CASE("rules of a context with metadata receive inner values with metadata, and constants with the "
          "constant's") {
  sum_of_metadata c;
  auto const r = overdub::run(
      c, [](auto x, auto y) { return x * y + 3.0; }, tag(2.0, 10), 5.0);
  CHECK(r.inner == 13.0);
  CHECK(r.metadata == 12);
}

struct comparing : context {
  int slopes = 0;
  void before(callee auto f, auto const&...) { slopes += f == slope; }
};

TEST_CASE("a function object equals itself in any context, and no other one") {
  comparing a;
  comparing b;
  overdub::run(compose(a, b), twice_slope, 1.0);
  CHECK(a.slopes == 2);
  CHECK(b.slopes == 2);
  CHECK_FALSE(slope == twice_slope);
  CHECK(sin == sin);
}

} // namespace
