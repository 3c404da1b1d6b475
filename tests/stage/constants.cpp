// Constants made of a number alone, as T s = 0, in functions that are staged: they are literals of the program.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/evaluate.hpp>
#include <overdub/stage/stage.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

constexpr auto add_up = fn<"add_up">([](auto x, auto y) {
  using T = std::decay_t<decltype(x)>;
  T s = 0, c = 3;
  std::vector<T> v(2);
  v[1] = T(2);
  s += x * v[1];
  c *= T(2);
  return s + c * y + v[0];
});
constexpr auto power = fn<"power">(
    [](scope auto& cx, auto x) { return loop(i64{3}, cx.lift(1.0), [&](auto, auto s) { return s * x; }); });
constexpr auto power_of_constant = fn<"power_of_constant">(
    [](auto x) { return loop(i64{3}, std::decay_t<decltype(x)>(1), [&](auto, auto s) { return s * x; }); });
constexpr auto of_constants =
    fn<"of_constants">([](auto x) { return add_up(decltype(x)(2), decltype(x)(5)) + x; });

template <class P, class... X>
double run_program(P const& p, X... x) {
  return executable(p).template call<double>(x...);
}

TEST_CASE("a staged function computes with constants as the function does") {
  CHECK(add_up(1.5, 0.25) == 4.5);
  CHECK(run_program(stage(add_up, signature<double, double>), 1.5, 0.25) == 4.5);
  CHECK(power(1.5) == 3.375);
  CHECK(run_program(stage(power, signature<double>), 1.5) == 3.375);
  CHECK(of_constants(1.0) == 35.0);
  CHECK(run_program(stage(of_constants, signature<double>), 1.0) == 35.0);
}

struct calls : context {
  long number = 0;
  void before(callee auto const&, auto const&...) { ++number; }
};

TEST_CASE("so it does when it is staged in contexts, whose hooks observe its constants as literals") {
  calls direct, staged;
  CHECK(overdub::run(direct, add_up, 1.5, 0.25) == 4.5);
  CHECK(evaluate<double>(stage(staged, add_up, signature<double, double>), 1.5, 0.25) == 4.5);
  CHECK(staged.number == direct.number);
  auto const p = stage(contexts::forward{}, add_up, signature<double, double>);
  auto const [value, slope] = evaluate<double, double>(p, 1.5, 1.0, 0.25, 0.0);
  CHECK(value == 4.5);
  CHECK(slope == 2.0);
}

// A constant that outlives the staging in which it was made.
constexpr auto with_static = fn<"with_static">([](auto x) {
  using T = std::decay_t<decltype(x)>;
  static T const k = 2;
  static T const twice = k * T(2);
  return x * k + twice;
});

TEST_CASE("a constant of a staging is a literal of each program in which it meets a value") {
  for (int i = 0; i < 3; ++i) {
    CHECK(run_program(stage(with_static, signature<double>), 1.5) == 7.0);
    calls staged;
    CHECK(evaluate<double>(stage(staged, with_static, signature<double>), 1.5) == 7.0);
    CHECK(staged.number == 3);
    auto const [value, slope] =
        evaluate<double, double>(stage(contexts::forward{}, with_static, signature<double>), 1.5, 1.0);
    CHECK(value == 7.0);
    CHECK(slope == 2.0);
  }
}

TEST_CASE("control flow on constants of a staging alone is rejected") {
  CHECK_THROWS_AS(stage(power_of_constant, signature<double>), rejected_program);
}

constexpr auto returns_constant =
    fn<"returns_constant">([](auto x) { return std::decay_t<decltype(x)>(2) * decltype(x)(3); });
constexpr auto branches = fn<"branches">([](auto x) {
  using T = std::decay_t<decltype(x)>;
  return if_(
      x > T(1), [&] { return T(2); }, [&] { return T(3) * x; });
});
constexpr auto sum_of = fn<"sum_of">([](scope auto& cx, auto x) {
  using T = std::decay_t<decltype(x)>;
  auto const xs = cx.lift(array<double>{1.0, 2.0});
  return sum(map([&](auto each) { return each * T(2) + x; }, xs)) +
         map([](auto) { return T(1); }, xs)[i64{1}];
});
constexpr auto calls_half = leaf<"half">([](double x) { return x / 2; }, effects::pure);
constexpr auto of_leaf = fn<"of_leaf">([](auto x) {
  using T = std::decay_t<decltype(x)>;
  return calls_half(T(3) + x) + T(1);
});

TEST_CASE("constants are results, branches, elements and arguments of programs") {
  auto const check = [](auto const& f, double expected) {
    CHECK(run_program(stage(f, signature<double>), 2.0) == expected);
    calls c;
    CHECK(evaluate<double>(stage(c, f, signature<double>), 2.0) == expected);
  };
  check(returns_constant, 6.0);
  check(branches, 2.0);
  check(sum_of, 2.0 + 4.0 + 4.0 + 1.0);
  check(of_leaf, 3.5);
  auto const [value, slope] =
      evaluate<double, double>(stage(contexts::forward{}, branches, signature<double>), 0.5, 1.0);
  CHECK(value == 1.5);
  CHECK(slope == 3.0);
}

// ---- programs in contexts

ir::program const& difference() {
  static ir::program const p =
      stage(fn<"difference">([](auto x, auto y) { return x - y; }), signature<double, double>);
  return p;
}
constexpr auto evaluates =
    fn<"evaluates">([](auto x) { return evaluate<double>(difference(), x, decltype(x)(2)) * x; });
constexpr auto evaluates_one =
    fn<"evaluates_one">([](auto x) { return evaluate<double>(difference(), decltype(x)(7), x); });

TEST_CASE("a constant is an argument of a program that a staged function evaluates") {
  CHECK(run_program(stage(evaluates, signature<double>), 5.0) == 15.0);
  CHECK(run_program(stage(evaluates_one, signature<double>), 5.0) == 2.0);
  calls c;
  CHECK(evaluate<double>(stage(c, evaluates, signature<double>), 5.0) == 15.0);
  auto const [value, slope] =
      evaluate<double, double>(stage(contexts::forward{}, evaluates, signature<double>), 5.0, 1.0);
  CHECK(value == 15.0);
  CHECK(slope == 8.0);
}

// A rule that returns a constant, and one that computes with constants.
struct constant_products : context {
  long number = 0;
  template <class X, class Y>
  requires std::same_as < plain_t<X>,
  double > &&std::same_as<plain_t<Y>, double> auto overdub(mul_t, X const& x, Y const&) {
    ++number;
    return X(3.0) - X(1.0) + 0.0 * X(x);
  }
};
struct only_constants : context {
  long number = 0;
  template <class X, class Y>
  requires std::same_as < plain_t<X>,
  double > &&std::same_as<plain_t<Y>, double> X overdub(mul_t, X const&, Y const&) { return X(3.0); }
};
constexpr auto with_control = fn<"with_control">([](scope auto& cx, auto x, auto n) {
  auto const looped = loop(n, cx.lift(1.0), [&](auto, auto s) { return s * x; });
  auto const chosen = if_(
      x > 0.0, [&] { return x * 2.0; }, [&] { return x; });
  auto const xs = map([&](auto each) { return each * x; }, cx.lift(array<double>{1.0, 2.0}));
  return looped + 10.0 * chosen + 100.0 * sum(xs);
});

TEST_CASE("a rule of a context in which a program runs returns a constant") {
  ir::program const p = stage(with_control, signature<double, i64>);
  only_constants direct, rewritten;
  double const expected = overdub::run(direct, with_control, 5.0, i64{2});
  CHECK(run_program(overdub::overdub(rewritten, p), 5.0, i64{2}) == expected);
  CHECK(
      run_program(overdub::overdub(rewritten, p), -5.0, i64{0}) ==
      overdub::run(direct, with_control, -5.0, i64{0}));
  CHECK(run_program(stage(rewritten, with_control, signature<double, i64>), 5.0, i64{2}) == expected);
  constant_products both, again;
  CHECK(
      run_program(overdub::overdub(both, p), 5.0, i64{2}) == overdub::run(again, with_control, 5.0, i64{2}));
}

// ---- random expressions

struct expression {
  std::vector<double> numbers;
  std::vector<std::array<std::size_t, 3>> steps; // an operation, and its operands
};
expression drawn;

template <class T>
T value_of(expression const& e, T const& x, T const& y) {
  std::vector<T> all{x, y};
  for (double const number : e.numbers) all.push_back(T(number));
  for (auto const& [operation, a, b] : e.steps)
    all.push_back(
        operation == 0   ? all[a] + all[b]
        : operation == 1 ? all[a] - all[b]
        : operation == 2 ? all[a] * all[b]
        : operation == 3 ? all[a] / (all[b] * all[b] + 1.5)
                         : 0.5 * all[a] + all[b]);
  return all.back() + x * y;
}
constexpr auto of_drawn = fn<"of_drawn">([](auto x, auto y) { return value_of(drawn, x, y); });

TEST_CASE(
    "random expressions with constants have the values and derivatives of programs and of direct runs") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    drawn = {};
    for (int i = 0; i < 4; ++i) drawn.numbers.push_back(0.25 * static_cast<double>(random() % 9) - 0.75);
    for (std::size_t i = 0; i < 12; ++i)
      drawn.steps.push_back(
          {random() % 5, static_cast<std::size_t>(random()) % (6 + i),
           static_cast<std::size_t>(random()) % (6 + i)});
    double const expected = of_drawn(1.25, -0.5);
    CHECK(run_program(stage(of_drawn, signature<double, double>), 1.25, -0.5) == expected);
    calls direct, staged;
    CHECK(overdub::run(direct, of_drawn, 1.25, -0.5) == expected);
    CHECK(evaluate<double>(stage(staged, of_drawn, signature<double, double>), 1.25, -0.5) == expected);
    CHECK(staged.number == direct.number);
    auto const along = overdub::run(contexts::forward{}, of_drawn, tag(1.25, 2.0), tag(-0.5, 3.0));
    auto const [value, slope] = evaluate<double, double>(
        stage(contexts::forward{}, of_drawn, signature<double, double>), 1.25, 2.0, -0.5, 3.0);
    CHECK(value == expected);
    CHECK(slope == along.metadata);
    calls outer;
    auto const [in_two, slope_in_two] = evaluate<double, double>(
        stage(compose(outer, contexts::forward{}), of_drawn, signature<double, double>), 1.25, 2.0, -0.5,
        3.0);
    CHECK(in_two == expected);
    CHECK(slope_in_two == slope);
    CHECK(outer.number == direct.number);
  }
}

} // namespace
