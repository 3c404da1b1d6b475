// Checked builds detect the use of a value or scope that outlives its run, where types do not show it.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>

#include <any>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
using Catch::Contains;
static_assert(OVERDUB_CHECKED, "the tests are built with checks");

// Counts in memory that it owns, so that the address sanitizer detects a hook that is called after its destruction.
struct counter : od::context {
  std::vector<int> calls = std::vector<int>(1);
  void before(od::callee auto, auto const&...) { ++calls[0]; }
};

// A class that is no template, whose type does not show what it contains.
struct sealed {
  std::any inside;
};

constexpr auto times_captured = [](auto x) { return [x](double y) { return od::concrete(x * y); }; };

TEST_CASE("a closure that captured a value fails if it uses the value after the run") {
  auto const outlived = od::run(counter{}, times_captured, 3.0);
  CHECK_THROWS_AS(outlived(2.0), od::escaped_value);
  CHECK_THROWS_WITH(
      outlived(2.0), Contains("overdub: mul was called with a value of the context") && Contains("counter") &&
                         Contains("whose run has ended"));
}

TEST_CASE("copies of such a closure, and moved ones, fail too") {
  auto outlived = od::run(counter{}, times_captured, 3.0);
  auto const copy = outlived;
  auto const moved = std::move(outlived);
  CHECK_THROWS_AS(copy(2.0), od::escaped_value);
  CHECK_THROWS_AS(moved(2.0), od::escaped_value);
}

TEST_CASE("such a closure computes during the run") {
  counter c;
  CHECK(
      od::run(
          c, [](auto x) { return x + times_captured(x)(2.0); }, 3.0) == 9.0);
  CHECK(c.calls[0] == 2);
}

TEST_CASE("values in type-erased objects, classes and variables fail if they are used after the run") {
  std::function<double()> stored;
  od::run(
      counter{},
      [&](auto x) {
        stored = [x] { return od::concrete(od::sin(x)); };
        return x;
      },
      3.0);
  CHECK_THROWS_AS(stored(), od::escaped_value);

  using value = od::value<double, counter>;
  sealed const erased = od::run(
      counter{}, [](auto x) { return sealed{x}; }, 3.0);
  auto const& inside = std::any_cast<value const&>(erased.inside);
  CHECK_THROWS_AS(inside + 1.0, od::escaped_value);
  CHECK_THROWS_AS(1.0 + inside, od::escaped_value);
  CHECK_THROWS_AS(-inside, od::escaped_value);
  CHECK_THROWS_AS(inside < 1.0, od::escaped_value);

  std::optional<value> variable;
  od::run(
      counter{},
      [&](auto x) {
        variable = x;
        return x;
      },
      3.0);
  CHECK_THROWS_AS(*variable *= 2.0, od::escaped_value);

  std::shared_ptr<value> shared;
  od::run(
      counter{},
      [&](auto x) {
        shared = std::make_shared<value>(x);
        return x;
      },
      3.0);
  CHECK_THROWS_AS(*shared * *shared, od::escaped_value);
}

TEST_CASE("the number of a value that outlived its run can be read, since no context observes that") {
  std::optional<od::value<double, counter>> kept;
  od::run(
      counter{},
      [&](auto x) {
        kept = x * x;
        return x;
      },
      3.0);
  CHECK(od::concrete(*kept) == 9.0);
}

constexpr auto cube = od::fn<"cube">([](auto x) { return x * x * x; });

TEST_CASE("functions, arrays and other runs reject such a value, too") {
  std::optional<od::value<double, counter>> kept;
  std::optional<od::value<od::array<double>, counter>> kept_array;
  od::run(
      counter{},
      [&](auto x, auto xs) {
        kept = x;
        kept_array = xs;
        return x;
      },
      3.0, od::array<double>{1.0, 2.0});
  CHECK_THROWS_WITH(cube(*kept), Contains("cube was called"));
  CHECK_THROWS_AS((*kept_array)[0], od::escaped_value);
  CHECK_THROWS_AS(od::map([](auto x) { return x + 1.0; }, *kept_array), od::escaped_value);
  CHECK_THROWS_AS(od::sum(*kept_array), od::escaped_value);
  counter other;
  CHECK_THROWS_AS(od::run(other, cube, *kept), od::escaped_value);
  CHECK_THROWS_AS(
      od::run(
          od::contexts::forward{}, [](auto x) { return x * x; }, od::tag(*kept, 1.0)),
      od::escaped_value);
}

TEST_CASE("values fail after their run ended by an exception, also a value in the exception") {
  std::optional<od::value<double, counter>> kept;
  struct failure {
    od::value<double, counter> at;
  };
  try {
    od::run(
        counter{},
        [&](auto x) {
          kept = x;
          throw failure{x};
          return x;
        },
        3.0);
    FAIL("it throws");
  } catch (failure const& f) {
    CHECK_THROWS_AS(f.at + 1.0, od::escaped_value);
  }
  CHECK_THROWS_AS(*kept + 1.0, od::escaped_value);
}

TEST_CASE("a value belongs to its run, not to its context: the next run of the same context rejects it") {
  counter c;
  std::optional<od::value<double, counter>> kept;
  od::run(
      c,
      [&](auto x) {
        kept = x;
        return x;
      },
      3.0);
  CHECK_THROWS_AS(*kept + 1.0, od::escaped_value);
  CHECK_THROWS_AS(
      od::run(
          c, [&](auto x) { return x + *kept; }, 2.0),
      od::escaped_value);
  CHECK_THROWS_AS(
      od::run(
          c, [&](auto x) { return *kept + x; }, 2.0),
      od::escaped_value);
}

TEST_CASE("a value of an inner run that has ended fails in the outer run, which continues") {
  counter outer;
  std::optional<od::value<od::value<double, counter>, counter>> kept;
  auto const f = [&](auto x) {
    counter inner;
    auto const y = od::run(
        inner,
        [&](auto z) {
          kept = z;
          return z + z;
        },
        x);
    CHECK_THROWS_AS(*kept + 1.0, od::escaped_value);
    CHECK(od::concrete(kept->inner() + 1.0) == 4.0); // the outer run's value
    return y + x;
  };
  CHECK(od::run(outer, f, 3.0) == 9.0);
  CHECK_THROWS_AS(kept->inner() + 1.0, od::escaped_value);
}

TEST_CASE("inner runs can use values of outer runs until the outer run ends") {
  counter a;
  auto const program = [&](auto x) {
    return od::run(
        a, [x](auto y) { return x + y; }, x);
  };
  CHECK(od::run(a, program, 2.0) == 4.0);
}

TEST_CASE("in a composition each context with state checks the value") {
  auto const outlived =
      od::run(od::compose(od::contexts::forward{}, counter{}), times_captured, od::tag(3.0, 1.0));
  CHECK_THROWS_AS(outlived(2.0), od::escaped_value);
}

TEST_CASE("values of stateless contexts hold no reference, and may outlive their run") {
  struct silent : od::context {};
  CHECK(od::run(silent{}, times_captured, 3.0)(2.0) == 6.0);
}

// ---- at compile time

struct tally : od::context {
  int calls = 0;
  constexpr void before(od::callee auto, auto const&...) { ++calls; }
};
struct tally_by_rule : od::context {
  int calls = 0;
  constexpr auto overdub(od::mul_t f, auto x, auto y) {
    ++calls;
    return od::recurse(*this, f, x, y);
  }
};
constexpr int tallied() {
  tally by_hook;
  od::run(
      by_hook, [](auto x) { return x * x; }, 3.0);
  tally_by_rule by_rule;
  od::run(by_rule, od::fn<"f">([](od::scope auto& cx, auto x) { return x * cx.lift(2.0); }), 3.0);
  return by_hook.calls + by_rule.calls;
}

TEST_CASE("runs in contexts with state remain constant expressions") {
  static_assert(tallied() == 2);
  CHECK(tallied() == 2);
}

// ---- scopes

TEST_CASE("a scope fails after its call, also during the run") {
  auto const calls_later = [](od::scope auto& cx, auto) {
    return [cx](double y) { return od::concrete(cx(od::sin, y)); };
  };
  auto const outlived = od::run(counter{}, od::fn<"later">(calls_later), 3.0);
  CHECK_THROWS_WITH(
      outlived(1.0),
      Contains("overdub: the scope of later is used after that call has returned; call through it before"));

  auto const lifts_later = [](od::scope auto& cx, auto) { return [cx] { (void)cx.lift(1.0); }; };
  CHECK_THROWS_AS(od::run(counter{}, od::fn<"f">(lifts_later), 3.0)(), od::escaped_value);

  auto const calls_itself_later = [](od::scope auto& cx, auto x) -> decltype(x) {
    static std::function<void()> later;
    if (later) {
      auto const now = std::exchange(later, {});
      CHECK_THROWS_AS(now(), od::escaped_value);
      return x;
    }
    later = [cx, x] { (void)cx.self(x); };
    return x;
  };
  constexpr auto g = od::fn<"g">([](auto const& f, auto x) { return f(x) + f(x); });
  auto const f = od::fn<"f">(calls_itself_later);
  CHECK(
      od::run(
          counter{}, [&](auto x) { return g(f, x); }, 3.0) == 6.0);
}

TEST_CASE("a scope of stateless contexts fails if it would call a function that no longer exists") {
  struct silent : od::context {};
  auto const later = [n = std::vector<int>(1)](od::scope auto& cx, auto x) -> decltype(x) {
    static std::function<void()> kept;
    if (!n.empty()) kept = [cx, x] { (void)cx.self(x); };
    if (od::concrete(x) > 0) {
      (void)cx.self(x - 1.0);
      CHECK_THROWS_AS(kept(), od::escaped_value);
    }
    return x;
  };
  CHECK(od::run(silent{}, od::fn<"later">(later), 1.0) == 1.0);
}

// ---- rules and enter

std::function<double()> kept_by_rule;
constexpr auto keeps_argument = od::fn<"keeps_argument">([](auto x) {
  kept_by_rule = [x] { return od::concrete(x * x); };
  return x * x;
});
struct rule_by_context : od::context {
  std::vector<int> calls = std::vector<int>(1);
  auto overdub(decltype(keeps_argument) f, auto x) {
    ++calls[0];
    return od::recurse(*this, f, x);
  }
};
struct rule_by_call : od::context {
  std::vector<int> calls = std::vector<int>(1);
  auto overdub(od::rule_call auto call, decltype(keeps_argument), auto x) {
    ++calls[0];
    return call.recurse(x);
  }
};

TEST_CASE("the run continues while a rule recurses") {
  rule_by_context by_context;
  CHECK(
      od::run(
          by_context,
          [](auto x) {
            auto const y = keeps_argument(x);
            CHECK(kept_by_rule() == 9.0);
            return y;
          },
          3.0) == 9.0);
  CHECK(by_context.calls[0] == 1);
  CHECK_THROWS_AS(kept_by_rule(), od::escaped_value);

  rule_by_call by_call;
  CHECK(od::run(by_call, keeps_argument, 3.0) == 9.0);
  CHECK_THROWS_AS(kept_by_rule(), od::escaped_value);
}

struct entered_by_value : od::context {
  std::vector<int> calls = std::vector<int>(1);
  counter enter(decltype(keeps_argument)) { return {}; }
};
struct entered_by_reference : od::context {
  counter other;
  counter& enter(decltype(keeps_argument)) { return other; }
};

TEST_CASE(
    "values of a context that enter returns are valid for the call, or for the run if it is a reference") {
  entered_by_value by_value;
  CHECK(
      od::run(
          by_value,
          [](auto x) {
            auto const y = keeps_argument(x);
            CHECK_THROWS_AS(kept_by_rule(), od::escaped_value);
            return y;
          },
          3.0) == 9.0);
  entered_by_reference by_reference;
  CHECK(
      od::run(
          by_reference,
          [](auto x) {
            auto const y = keeps_argument(x);
            CHECK(kept_by_rule() == 9.0);
            return y;
          },
          3.0) == 9.0);
  CHECK_THROWS_AS(kept_by_rule(), od::escaped_value);
}

// ---- many runs

TEST_CASE("thousands of nested runs and scopes are distinguished, repeatedly") {
  struct nested {
    static double run(counter& c, double x, int depth) {
      return od::run(
          c,
          [&](auto y) {
            std::optional<decltype(y)> kept;
            od::run(
                c,
                [&](auto z) {
                  kept = z;
                  return z;
                },
                1.0);
            auto const below = depth > 0 ? run(c, x, depth - 1) : x;
            CHECK_THROWS_AS(*kept + 1.0, od::escaped_value);
            return y + below;
          },
          1.0);
    }
  };
  counter c;
  for (int i = 0; i < 3; ++i) CHECK(nested::run(c, 1.0, 300) == 302.0);
  auto const down = od::fn<"down">(
      [](od::scope auto& cx, auto n) -> decltype(n) { return n > 0 ? cx.self(n - 1) + 1 : n; });
  CHECK(od::run(c, down, 2000) == 2000);
}

} // namespace
