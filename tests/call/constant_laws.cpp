// Laws of constants made of a number alone, as T s = 0: programs with them compute what they compute with plain numbers, in all stacks of
// contexts with and without state and metadata, and no context loses a derivative to them.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>

#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

namespace od = overdub;
using od::contexts::count;
using od::contexts::forward;

template <class X>
using type_of = std::remove_cvref_t<X>;

// Forward differentiation in a context with state, so that the reference of a constant is null.
struct forward_with_state : forward {
  int state = 0;
};
// A context whose object determines the metadata of constants.
struct labelling : od::context {
  double of_constants;
  explicit labelling(double label) : of_constants(label) {}
  template <class T>
  using metadata = double;
  double constant(auto const&) const { return of_constants; }
  auto overdub(od::elementwise auto f, auto const&... x) {
    return od::tag(f(x.inner...), (0.0 + ... + x.metadata));
  }
};

// ---- random expressions

enum class leaf { x, y, constant };
struct step {
  int operation;
  std::size_t left, right;
};
struct expression {
  std::vector<leaf> leaves;
  std::vector<double> numbers;
  std::vector<step> steps;
};
expression random_expression(unsigned seed) {
  std::mt19937 random(seed);
  auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  expression e;
  for (int i = 0; i < 6; ++i) {
    e.leaves.push_back(i == 0 ? leaf::x : i == 1 ? leaf::y : below(4) == 0 ? leaf::x : leaf::constant);
    e.numbers.push_back(0.25 * static_cast<double>(below(9)) - 0.75);
  }
  for (std::size_t i = 0; i < 12; ++i)
    e.steps.push_back({static_cast<int>(below(6)), below(6 + i), below(6 + i)});
  return e;
}
template <class A, class B>
auto apply(int operation, A const& a, B const& b) {
  using std::sin;
  switch (operation) {
  case 0:
    return a + b;
  case 1:
    return a - b;
  case 2:
    return a * b;
  case 3:
    return a / (b * b + 1.5);
  case 4:
    return sin(a) * b;
  default:
    return a < b ? a + 0.0 * b : 0.0 * a + b;
  }
}
// Constants are values of the type T.
template <class T>
T by_constants(expression const& e, T const& x, T const& y) {
  std::vector<T> all;
  for (std::size_t i = 0; i < e.leaves.size(); ++i)
    all.push_back(e.leaves[i] == leaf::x ? x : e.leaves[i] == leaf::y ? y : T(e.numbers[i]));
  for (step const& s : e.steps) all.push_back(apply(s.operation, all[s.left], all[s.right]));
  return all.back() + x * y;
}
// Constants are plain numbers, and remain so until they meet a value.
template <class T>
T by_numbers(expression const& e, T const& x, T const& y) {
  std::vector<std::variant<double, T>> all;
  for (std::size_t i = 0; i < e.leaves.size(); ++i)
    if (e.leaves[i] == leaf::constant)
      all.push_back(e.numbers[i]);
    else
      all.push_back(e.leaves[i] == leaf::x ? x : y);
  for (step const& s : e.steps)
    all.push_back(std::visit(
        [&](auto const& a, auto const& b) -> std::variant<double, T> { return apply(s.operation, a, b); },
        all[s.left], all[s.right]));
  return std::visit([&](auto const& last) -> T { return last + x * y; }, all.back());
}

auto const constants = od::fn<"f">(
    [](auto x, auto y, expression const* e) { return by_constants<type_of<decltype(x)>>(*e, x, y); });
auto const numbers = od::fn<"f">([](auto x, auto y, expression const* e) {
  if constexpr (std::is_same_v<decltype(x), double>)
    return by_constants(*e, x, y);
  else
    return by_numbers<type_of<decltype(x)>>(*e, x, y);
});

template <class X>
std::vector<double> parts_of(X const& x) {
  std::vector<double> all;
  od::each_leaf([&](double each) { all.push_back(each); }, x);
  return all;
}
// A differentiator computes with the tangent 0 of a constant, and omits it for a plain number: contexts inside of it see more calls, as for
// cx.lift(0.0).
enum class seen { all, derivatives, values };
template <class Make, class X, class Y>
void check_stack(Make const& make, X const& x, Y const& y, seen what = seen::all) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    expression const e = random_expression(seed);
    count of_constants, of_numbers;
    auto found = parts_of(make(of_constants, constants, x, y, &e));
    auto expected = parts_of(make(of_numbers, numbers, x, y, &e));
    CHECK(found[0] == constants(1.25, -0.5, &e));
    if (what == seen::values) found.resize(3), expected.resize(3);
    CHECK(found == expected);
    if (what != seen::all) continue;
    CHECK(of_constants.primitives == of_numbers.primitives);
    CHECK(of_constants.functions == of_numbers.functions);
  }
}

TEST_CASE("random expressions in stacks of one context") {
  auto const x = od::tag(1.25, 2.0), y = od::tag(-0.5, 3.0);
  check_stack([](auto& c, auto... a) { return od::run(c, a...); }, 1.25, -0.5);
  check_stack([](auto&, auto... a) { return od::run(forward{}, a...); }, x, y);
  check_stack(
      [](auto&, auto... a) {
        forward_with_state f;
        return od::run(f, a...);
      },
      x, y);
  check_stack(
      [](auto&, auto... a) {
        labelling l(16.0);
        return od::run(l, a...);
      },
      x, y);
}

TEST_CASE("random expressions in stacks of two contexts") {
  auto const x = od::tag(1.25, 2.0), y = od::tag(-0.5, 3.0);
  auto const in = [&]<class C>(C made) {
    check_stack(
        [&](auto& c, auto... a) {
          C one = made;
          return od::run(od::compose(c, one), a...);
        },
        x, y);
    check_stack(
        [&](auto& c, auto... a) {
          C one = made;
          return od::run(od::compose(one, c), a...);
        },
        x, y, std::is_same_v<C, labelling> ? seen::all : seen::derivatives);
  };
  in(forward{});
  in(forward_with_state{});
  in(labelling(16.0));
}

TEST_CASE("random expressions in stacks of three contexts") {
  auto const x = od::tag(od::tag(1.25, 2.0), od::tag(0.25, 5.0)),
             y = od::tag(od::tag(-0.5, 3.0), od::tag(1.5, 7.0));
  check_stack(
      [](auto& c, auto... a) {
        forward_with_state f;
        return od::run(od::compose(f, c, forward{}), a...);
      },
      x, y, seen::derivatives);
  check_stack(
      [](auto& c, auto... a) {
        forward_with_state f, g;
        return od::run(od::compose(c, f, g), a...);
      },
      x, y);
  auto const u = od::tag(od::tag(1.25, 2.0), 5.0), v = od::tag(od::tag(-0.5, 3.0), 7.0);
  check_stack(
      [](auto& c, auto... a) {
        forward_with_state f;
        labelling l(16.0);
        return od::run(od::compose(f, l, c), a...);
      },
      u, v, seen::values);
  check_stack(
      [](auto& c, auto... a) {
        forward_with_state f;
        labelling l(16.0);
        return od::run(od::compose(l, c, f), a...);
      },
      u, v);
}

// ---- references that are null at one level, and not at another

TEST_CASE("a value of an inner run that meets a constant of the outer context keeps its derivative") {
  auto const check = [](auto outer, auto inner) {
    auto const of_inner = od::fn<"of_inner">([&](auto u) {
      // u is a value of the inner context alone; a constant of both contexts is null in both.
      auto const of_both = od::fn<"of_both">([u](auto v) {
        using T = type_of<decltype(v)>;
        T const product = u * T(3);
        T const both = product * product + T(1) * u;
        return both + 0.0 * v;
      });
      return od::concrete(u) > 0 ? od::untag(od::run(outer, of_both, od::tag(0.5 * u, u))) : u;
    });
    auto const d = od::run(inner, of_inner, od::tag(2.0, 1.0));
    CHECK(d.inner == 36.0 + 2.0);
    CHECK(d.metadata == 2.0 * 9.0 * 2.0 + 1.0);
  };
  check(forward_with_state{}, forward_with_state{});
  check(forward_with_state{}, forward{});
  check(forward{}, forward_with_state{});
}

TEST_CASE("derivatives of derivatives with constants do not confuse perturbations") {
  auto const check = [](auto outer, auto inner) {
    // d/dx (x * d/dy (x * y * y + y) at y = 3) = d/dx (x * (6 x + 1)) = 12 x + 1
    auto const f = od::fn<"f">([&](auto x) {
      using T = type_of<decltype(x)>;
      auto const g = od::fn<"g">([x](auto y) { return x * y * y + type_of<decltype(y)>(1) * y; });
      T const slope = od::run(inner, g, od::tag(T(3), T(1))).metadata;
      return x * slope;
    });
    auto const d = od::run(outer, f, od::tag(2.0, 1.0));
    CHECK(d.inner == 2.0 * 13.0);
    CHECK(d.metadata == 25.0);
  };
  check(forward_with_state{}, forward_with_state{});
  check(forward_with_state{}, forward{});
  check(forward{}, forward_with_state{});
  check(forward{}, forward{});
}

struct names : od::context {
  std::vector<std::string> all;
  void before(od::callee auto const& f, auto const&...) { all.emplace_back(f.name()); }
};

TEST_CASE("a run that starts from constants of another run is seen by its own context alone") {
  names outer, inner;
  auto const square = od::fn<"square">([](auto x) { return x * x; });
  auto const f = od::fn<"f">([&](auto x) { return od::run(inner, square, type_of<decltype(x)>(3)) + x; });
  CHECK(od::run(outer, f, 0.5) == 9.5);
  CHECK(outer.all == std::vector<std::string>{"f", "add"});
  CHECK(inner.all == std::vector<std::string>{"square", "mul"});
  // A value of the outer run that the inner function captures is still one of both.
  outer = inner = {};
  auto const g = od::fn<"g">([&](auto x) {
    auto const times_x = od::fn<"times_x">([x](auto y) { return y * x + y * y; });
    return od::run(inner, times_x, type_of<decltype(x)>(3));
  });
  CHECK(od::run(outer, g, 0.5) == 10.5);
  CHECK(outer.all == std::vector<std::string>{"g", "mul", "add"});
  CHECK(inner.all == std::vector<std::string>{"times_x", "mul", "mul", "add"});
}

#if OVERDUB_CHECKED
TEST_CASE("values of two runs in one call are refused, also if a constant is another argument") {
  auto const sum = od::fn<"sum">([](auto a, auto b, auto c) { return a + b + c; });
  auto const f = od::fn<"f">([&](auto x) {
    names other;
    auto const g = od::fn<"g">([x, &sum](auto y) {
      using T = type_of<decltype(y)>;
      CHECK_THROWS_AS(T(1) * x + y, od::context_mismatch);
      CHECK_THROWS_AS(y + T(1) * x, od::context_mismatch);
      CHECK_THROWS_AS(sum(T(1), x, y), od::context_mismatch);
      return sum(T(1), y, T(2));
    });
    return od::run(other, g, 1.0) + x;
  });
  names c;
  CHECK(od::run(c, f, 2.0) == 6.0);
}
#endif

// ---- functions that a context replaces

constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
constexpr auto half = od::leaf<"half">([](double x) { return x / 2; }, od::effects::pure);

struct rule_for_function : names {
  auto overdub(decltype(square), auto x) { return x; }
};
struct rule_for_leaf : names {
  auto overdub(decltype(half), auto x) { return x; }
};
struct leaving : names {
  auto enter(decltype(square)) { return od::leave; }
};
struct entering : names {
  names inside;
  names& enter(decltype(square)) { return inside; }
};

template <class F>
std::string text_of(F const& f) {
  try {
    (void)f();
  } catch (od::rejected_program const& error) {
    return error.what();
  }
  return "";
}
template <class... C>
bool throws(auto const& f, C... contexts) {
  auto const text = text_of([&] { return od::run(od::compose(contexts...), f, 2.0); });
  return text.find("with constants alone") != std::string::npos && text.size() < 240;
}
template <class... C>
double result(auto const& f, C... contexts) {
  return od::concrete(od::run(od::compose(contexts...), f, 2.0));
}

TEST_CASE("a call of constants alone that a context of any level replaces throws, and no rule is skipped") {
  auto const of_function = od::fn<"of_function">([](auto x) { return square(type_of<decltype(x)>(3)) + x; });
  auto const of_leaf = od::fn<"of_leaf">([](auto x) { return half(type_of<decltype(x)>(3)) + x; });
  CHECK(result(of_function, names{}) == 11.0);
  CHECK(result(of_leaf, names{}) == 3.5);
  CHECK(result(of_leaf, rule_for_function{}) == 3.5);
  CHECK(throws(of_function, rule_for_function{}));
  CHECK(throws(of_leaf, rule_for_leaf{}));
  labelling with_metadata(1.0);
  CHECK(od::run(with_metadata, of_leaf, od::tag(2.0, 4.0)).inner == 3.5);
  CHECK(od::run(with_metadata, of_leaf, od::tag(2.0, 4.0)).metadata == 5.0);
  CHECK(throws(of_function, entering{}));
  CHECK(throws(of_function, names{}, rule_for_function{}));
  CHECK(throws(of_function, rule_for_function{}, names{}));
  CHECK(throws(of_leaf, names{}, rule_for_leaf{}));
  CHECK(throws(of_leaf, rule_for_leaf{}, names{}));
  CHECK(throws(of_function, names{}, entering{}));
  // Only the context's own body is left; that of constants is not seen by it in any case.
  CHECK(result(of_function, leaving{}) == 11.0);
}

TEST_CASE("metadata of a constant that only a run can make are refused") {
  auto const f = od::fn<"f">([](auto x) { return x * od::metadata(type_of<decltype(x)>(3)); });
  labelling l(1.0);
  CHECK_THROWS_AS(od::run(l, f, od::tag(2.0, 4.0)), od::rejected_program);
}

TEST_CASE("a function with a scope, called with constants alone, throws, since they have no contexts") {
  auto const f = od::fn<"f">([](auto x) {
    auto const scoped = od::fn<"scoped">([](od::scope auto& cx, auto y) { return cx(square, y) + y; });
    return scoped(type_of<decltype(x)>(3)) + scoped(x);
  });
  CHECK(throws(f, names{}));
  CHECK(throws(f, names{}, forward{}));
  CHECK(throws(f, forward{}, names{}));
  CHECK(od::run(forward{}, f, od::tag(2.0, 1.0)).metadata == 5.0);
  auto const lifted = od::fn<"lifted">([](od::scope auto& cx, auto x) {
    auto const scoped = od::fn<"scoped">([](od::scope auto& cx2, auto y) { return cx2(square, y) + y; });
    return scoped(cx.lift(3.0)) + x;
  });
  CHECK(result(lifted, names{}) == 14.0);
}

TEST_CASE("a rule of an inner context is not lost if the outer context's reference is null") {
  names outer;
  rule_for_function inner;
  auto const mixed = od::fn<"mixed">([&](auto u) {
    auto const of_both = od::fn<"of_both">([u](auto v) {
      using T = type_of<decltype(v)>;
      return square(T(0) + u) + v; // null in the outer context, and a value of the inner one
    });
    return od::run(outer, of_both, u);
  });
  CHECK(od::run(inner, mixed, 3.0) == 6.0);
}

TEST_CASE("limits of numbers are those of the number, as constants") {
  using V = od::value<float, count>;
  using L = std::numeric_limits<V>;
  static_assert(L::is_specialized && L::digits == std::numeric_limits<float>::digits && L::has_infinity);
  static_assert(std::is_same_v<decltype(L::max()), V>);
  CHECK(L::max().inner() == std::numeric_limits<float>::max());
  CHECK(L::lowest().inner() == std::numeric_limits<float>::lowest());
  CHECK(L::epsilon().inner() == std::numeric_limits<float>::epsilon());
  auto const f = od::fn<"f">([](auto x) {
    auto smallest = std::numeric_limits<type_of<decltype(x)>>::infinity();
    return od::min(smallest, x);
  });
  count c;
  CHECK(od::run(c, f, 2.0) == 2.0);
  CHECK(od::run(forward{}, f, od::tag(2.0, 1.0)).metadata == 1.0);
}

} // namespace
