// Checked builds detect calls that no context observes, and values of two runs in one operation.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <thread>

namespace {

using namespace overdub;
using Catch::Contains;
static_assert(OVERDUB_CHECKED, "the tests are built with checks");

struct strict_context : strict {};
struct strict_counting : strict {
  int calls = 0;
  void before(callee auto, auto const&...) { ++calls; }
};

constexpr auto escaping = fn<"escaping">([](auto x) { return x * square(2.0); });
constexpr auto contained = fn<"contained">([](scope auto& cx, auto x) { return x * cx(square, 2.0); });

TEST_CASE("a strict run throws where a function is called with plain arguments") {
  strict_context c;
  CHECK_THROWS_AS(overdub::run(c, escaping, 3.0), escaped_call);
  CHECK_THROWS_WITH(overdub::run(c, escaping, 3.0), Contains("square") && Contains("cx(square, ...)"));
  strict_counting d;
  CHECK_THROWS_AS(overdub::run(d, escaping, 3.0), escaped_call);
  CHECK_THROWS_AS(
      overdub::run(
          d, [](auto x) { return x * square(2.0); }, 3.0),
      escaped_call);
}

TEST_CASE("a strict run throws where a function is called with constants alone") {
  strict_counting c;
  CHECK_THROWS_AS(
      overdub::run(
          c, [](auto x) { return x * square(decltype(x)(2)); }, 3.0),
      escaped_call);
  CHECK(
      overdub::run(
          c, [](auto x) { return x * (decltype(x)(2) + decltype(x)(1)); }, 3.0) == 9.0);
  strict_context seen; // a context without state intercepts calls of constants
  CHECK(
      overdub::run(
          seen, [](auto x) { return x * square(decltype(x)(2)); }, 3.0) == 12.0);
}

TEST_CASE("a number that concrete returns is plain, and a call with it escapes") {
  strict_context c;
  CHECK_THROWS_AS(
      overdub::run(
          c, [](auto x) { return x + square(concrete(x)); }, 3.0),
      escaped_call);
}

constexpr auto native = leaf<"native">([](double x) { return square(x) + 1.0; });

TEST_CASE("calls in a native function are outside of the run, and do not escape") {
  strict_counting c;
  CHECK(
      overdub::run(
          c, [](auto x) { return native(x); }, 3.0) == 10.0);
  CHECK(c.calls == 1);
}

TEST_CASE("calls in a thread that the function starts are outside of the run, and do not escape") {
  strict_context c;
  double const made = overdub::run(
      c,
      [](auto x) {
        double other = 0;
        std::thread([&] { other = square(3.0); }).join();
        return x + other;
      },
      2.0);
  CHECK(made == 11.0);
}

TEST_CASE("one strict context makes a composition strict") {
  strict_counting c;
  events list;
  recorder<"A"> a(list);
  CHECK_THROWS_AS(overdub::run(compose(a, c), escaping, 3.0), escaped_call);
  CHECK_THROWS_AS(overdub::run(compose(c, a), escaping, 3.0), escaped_call);
}

TEST_CASE("a call through the scope does not escape") {
  strict_counting c;
  CHECK(overdub::run(c, contained, 3.0) == 12.0);
  CHECK(c.calls == 4);
}

TEST_CASE("a call of a primitive with plain numbers does not escape, since it is ordinary arithmetic") {
  strict_context c;
  CHECK(
      overdub::run(
          c, [](auto x) { return x * overdub::sqrt(4.0); }, 3.0) == 6.0);
}

TEST_CASE("functions passed to control primitives are checked in a strict run") {
  strict_counting c;
  auto const program = [](auto xs) { return map([](auto x) { return x + square(2.0); }, xs); };
  CHECK_THROWS_AS(overdub::run(c, program, array<double>{1.0}), escaped_call);
}

struct with_rule : strict {
  auto overdub(sin_t, auto x) { return x * square(2.0); }
  void before(callee auto, auto const&...) { last = square(3.0); }
  double last = 0.0;
};

TEST_CASE("rules and hooks of a strict context may call functions plainly") {
  with_rule c;
  CHECK(
      overdub::run(
          c, [](auto x) { return overdub::sin(x); }, 3.0) == 12.0);
  CHECK(c.last == 9.0);
}

struct with_hooks : strict {
  double last = 0.0;
  void before(callee auto, auto const&...) { last += square(1.0); }
  void after(callee auto, auto const&, auto const&...) { last += square(2.0); }
  void failed(callee auto, std::exception_ptr, auto const&...) { last += square(3.0); }
};

TEST_CASE("hooks of every kind of a strict context may call functions plainly") {
  with_hooks c;
  CHECK(
      overdub::run(
          c, [](auto x) { return square(x) + x; }, 3.0) == 12.0);
  CHECK(c.last == 15.0);
  CHECK_THROWS_AS(
      overdub::run(
          c, [](auto xs) { return xs[3]; }, array<double>{1.0}),
      index_error);
  CHECK(c.last == 25.0);
}

TEST_CASE("a strict run leaves no state, also if it ends by an exception") {
  strict_context c;
  CHECK_THROWS_AS(overdub::run(c, escaping, 3.0), escaped_call);
  CHECK(square(2.0) == 4.0);
  CHECK(overdub::run(c, contained, 3.0) == 12.0);
  CHECK(square(2.0) == 4.0);
}

TEST_CASE("a run that is not strict allows plain calls of functions") {
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(a, escaping, 3.0) == 12.0);
  CHECK(list == events{"A escaping", "A mul"});
}

struct counting : context {
  int calls = 0;
  void before(callee auto, auto const&...) { ++calls; }
};

TEST_CASE("an operation on values of two instances of one context is an error") {
  counting a;
  counting b;
  auto const add_captured = [&](auto x) {
    return overdub::run(
        b, [x](auto y) { return x + y; }, 1.0);
  };
  CHECK_THROWS_AS(overdub::run(a, add_captured, 2.0), context_mismatch);
  CHECK_THROWS_WITH(overdub::run(a, add_captured, 2.0), Contains("add") && Contains("counting"));
}

TEST_CASE("values of two instances in one call of a user's function, or in one array, are an error, too") {
  counting a;
  counting b;
  auto const call_captured = [&](auto x) {
    return overdub::run(
        b, [x](auto y) { return norm(x, y); }, 1.0);
  };
  CHECK_THROWS_AS(overdub::run(a, call_captured, 2.0), context_mismatch);
  auto const index_captured = [&](auto xs) {
    return overdub::run(
        b, [xs](auto i) { return xs[i]; }, i64{0});
  };
  CHECK_THROWS_AS(overdub::run(a, index_captured, array<double>{2.0}), context_mismatch);
}

TEST_CASE("values of one instance may be used together in two of its runs") {
  counting a;
  auto const program = [&](auto x) {
    return overdub::run(
        a, [x](auto y) { return x + y; }, x);
  };
  CHECK(overdub::run(a, program, 2.0) == 4.0);
}

} // namespace
