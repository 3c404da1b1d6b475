// forward on programs: control flow, arrays, trees, directions, precision, and enclosing contexts.
#include "call/recorder.hpp"
#include "catch.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

#include <array>
#include <concepts>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace overdub;
using contexts::forward;
using contexts::forward_along;
using contexts::tangents;

struct no_op : context {};
struct counting : context {
  int calls = 0;
  void before(callee auto, auto const&...) { ++calls; }
};

constexpr auto wave = fn<"wave">([](auto x) { return overdub::sin(x * x) / (1.0 + overdub::exp(-x)); });
constexpr auto rosenbrock = fn<"rosenbrock">([](auto xs) {
  return loop(overdub::size(xs) - i64{1}, xs[i64{0}] * 0.0, [&](auto i, auto total) {
    auto a = 1.0 - xs[i];
    auto b = xs[i + i64{1}] - xs[i] * xs[i];
    return total + 100.0 * b * b + a * a;
  });
});

template <class F>
void agrees_with_differences(F const& f, std::vector<double> points) {
  for (double x : points) {
    auto const r = value_and_derivative(f, x);
    INFO(x);
    CHECK(r.inner == f(x));
    CHECK(close(r.metadata, finite_difference(f, x), 1e-7));
  }
}

TEST_CASE("the derivative of a program agrees with finite differences, and its value is the program's") {
  agrees_with_differences(wave, {-2.0, -0.3, 0.0, 0.7, 1.9});
}

TEST_CASE("branches and loops are differentiated along the path that is taken") {
  agrees_with_differences(
      [](auto x) {
        return if_(
            x > 0.5, [&] { return wave(x); }, [&] { return x * x; });
      },
      {-1.0, 0.2, 0.9});
  agrees_with_differences(
      [](auto x) { return loop(i64{5}, x, [&](auto, auto s) { return overdub::sin(s) + x; }); },
      {-1.0, 0.4, 2.0});
  auto const halving = [](auto x) {
    return while_(
        x * 7.0, [](auto s) { return s > 1.0; }, [&](auto s) { return s * 0.5 * overdub::cos(x); });
  };
  agrees_with_differences(halving, {0.25, 0.6, 1.2});
}

constexpr auto power = fn<"power">([](scope auto& cx, auto x, auto n) -> decltype(x) {
  return if_(
      n == i64{0}, [&] { return cx.lift(1.0); }, [&] { return x * cx.self(x, n - i64{1}); });
});

TEST_CASE("recursion is differentiated") {
  auto const fifth = [](auto x) { return power(x, i64{5}); };
  CHECK(derivative(fifth, 2.0) == 80.0);
  CHECK(derivative([&](auto x) { return derivative(fifth, x); }, 2.0) == 160.0);
}

TEST_CASE("constants and integers have no tangent, and loop-carried values of several kinds keep theirs") {
  static_assert(std::same_as<metadata_t<forward, double>, double>);
  static_assert(std::same_as<metadata_t<forward, i64>, zero>);
  static_assert(std::same_as<metadata_t<forward, bool>, zero>);
  static_assert(std::same_as<metadata_t<forward, array<i64>>, zero>);
  CHECK(derivative([](auto) { return 4.0; }, 2.0) == 0.0);
  auto const r = overdub::run(
      forward{},
      [](auto x) {
        return std::tuple{x, x > 1.0, convert<i64>(x)};
      },
      tag(2.5, 1.0));
  CHECK(std::get<1>(r).inner);
  CHECK(std::get<2>(r).inner == 2);
  static_assert(std::same_as<decltype(std::get<2>(r).metadata), zero>);
}

TEST_CASE("an argument without a tangent is a constant") {
  auto const product = [](auto x, auto y) { return x * y; };
  CHECK(overdub::run(forward{}, product, tag(3.0, 1.0), 5.0).metadata == 5.0);
  CHECK(overdub::run(forward{}, product, 3.0, 5.0).metadata == 0.0);
}

TEST_CASE("tangents are linear in the direction") {
  auto const f = [](auto x, auto y) { return overdub::sin(x) * y; };
  auto const along = [&](double dx, double dy) {
    return overdub::run(forward{}, f, tag(0.7, dx), tag(2.0, dy)).metadata;
  };
  CHECK(close(along(2.0, -3.0), 2.0 * along(1.0, 0.0) - 3.0 * along(0.0, 1.0), 1e-15));
}

TEST_CASE("a float is differentiated in float, and conversions convert tangents") {
  auto const f = [](auto x) { return overdub::exp(x) * 2.0f; };
  auto const d = derivative(f, 0.5f);
  static_assert(std::same_as<decltype(d), float const>);
  CHECK(d == 2.0f * std::exp(0.5f));
  auto const mixed = [](auto x) { return convert<float>(x) * x; };
  auto const r = value_and_derivative(mixed, 1.5);
  static_assert(std::same_as<decltype(r.metadata), double>);
  CHECK(r.metadata == 3.0);
  auto const back = value_and_derivative([](auto x) { return convert<float>(x * x); }, 1.5);
  static_assert(std::same_as<decltype(back.metadata), float>);
  CHECK(back.metadata == 3.0f);
}

TEST_CASE("the gradient agrees with finite differences, element by element") {
  array<double> const xs{0.3, -0.7, 1.1, 0.4, 0.9, -0.2, 1.3, 0.8, -1.1, 0.6};
  auto const g = forward_gradient(rosenbrock, xs);
  for (i64 i = 0; i < xs.size(); ++i)
    CHECK(close(g[i], finite_difference([&](double x) { return rosenbrock(xs.with(i, x)); }, xs[i]), 1e-6));
}

TEST_CASE("N directions computed together equal N directions computed separately") {
  array<double> const xs{0.3, -0.7, 1.1, 0.4, 0.9};
  auto const eight = forward_gradient<8>(rosenbrock, xs);
  CHECK(forward_gradient<1>(rosenbrock, xs) == eight);
  CHECK(forward_gradient<2>(rosenbrock, xs) == eight);
  CHECK(forward_gradient<3>(rosenbrock, xs) == eight);
}

TEST_CASE("forward accepts several directions of scalars, and directions of directions") {
  tangents<double, 2> dx;
  dx[0] = 1.0;
  tangents<double, 2> dy;
  dy[1] = 1.0;
  auto const f = [](auto x, auto y) { return x * x * y; };
  auto const r = overdub::run(forward_along<2>{}, f, tag(3.0, dx), tag(5.0, dy));
  CHECK(r.metadata[0] == 30.0);
  CHECK(r.metadata[1] == 9.0);
  auto const second = [&](auto y) {
    auto const inner = overdub::run(forward_along<2>{}, f, tag(y, dx), tag(y, dy));
    return inner.metadata[0] + inner.metadata[1]; // 2 y^2 + y^2
  };
  CHECK(derivative(second, 2.0) == 12.0);
}

TEST_CASE("array operations reorder tangents as they reorder elements") {
  auto const program = [](auto x) {
    auto xs =
        concat(fill(i64{2}, x), update(map([](auto e) { return e * e; }, fill(i64{3}, x)), i64{1}, x * 7.0));
    auto const [last, sums] = scan([](auto s, auto e) { return std::tuple{s + e, s * e}; }, x, xs);
    return dot(xs, xs) + last * sum(sums) + reduce(overdub::mul, xs);
  };
  agrees_with_differences(program, {-1.2, 0.3, 0.9});
}

TEST_CASE("one tangent of an array of arrays applies to each element") {
  auto const f =
      fn<"f">([](auto const& rows) { return sum(map([](auto const& row) { return dot(row, row); }, rows)); });
  array<array<double>> const rows{{1, 2}, {3, 4}, {5, 6}};
  auto const r = run(forward{}, f, tag(rows, 1.0));
  CHECK((r.inner == 91.0 && r.metadata == 42.0));
  auto const inside = run(compose(no_op{}, forward{}), f, tag(rows, 1.0));
  CHECK((inside.inner == 91.0 && inside.metadata == 42.0));
}

TEST_CASE("pairs, arrays and vectors of numbers are trees of values with tangents") {
  auto const program = [](auto p, auto a, auto v) {
    auto const s = p.first * a[0] + p.second * a[1] * v[2];
    return std::pair{s, std::array{s * s, v[0]}};
  };
  auto const r = overdub::run(
      forward{}, program, std::pair{tag(2.0, 1.0), 3.0}, std::array{tag(4.0, 0.0), tag(5.0, 1.0)},
      std::vector{tag(1.0, 0.0), tag(1.0, 0.0), tag(6.0, 1.0)});
  // ds = 1 * 4 + 3 * (1 * 6 + 5 * 1)
  CHECK(r.first.inner == 98.0);
  CHECK(r.first.metadata == 37.0);
  CHECK(r.second[0].metadata == 2.0 * 98.0 * 37.0);
  CHECK(r.second[1].metadata == 0.0);
}

TEST_CASE(
    "forward is correct with contexts that do nothing, in both orders, and they observe the expected calls") {
  auto const expected = value_and_derivative(wave, 0.7);
  auto const agrees = [&](auto&& contexts) {
    auto const r = overdub::run(contexts, wave, tag(0.7, 1.0));
    return r.inner == expected.inner && r.metadata == expected.metadata;
  };
  CHECK(agrees(compose(no_op{}, forward{})));
  CHECK(agrees(compose(forward{}, no_op{})));
  CHECK(agrees(compose(no_op{}, forward{}, no_op{}, no_op{})));
  counting outside;
  CHECK(agrees(compose(outside, forward{})));
  CHECK(outside.calls == 7); // wave, mul, sin, neg, exp, add, div
  counting inside;
  CHECK(agrees(compose(forward{}, inside)));
  CHECK(inside.calls > outside.calls);
}

TEST_CASE("the derivative of a program on arrays is correct with contexts that do nothing, in both orders") {
  array<double> const xs{0.3, -0.7, 1.1};
  array<double> const dx{1.0, 2.0, -1.0};
  auto const expected = overdub::run(forward{}, rosenbrock, tag(xs, dx)).metadata;
  CHECK(overdub::run(compose(no_op{}, forward{}), rosenbrock, tag(xs, dx)).metadata == expected);
  CHECK(overdub::run(compose(forward{}, no_op{}), rosenbrock, tag(xs, dx)).metadata == expected);
}

struct with_derivative_of_wave : extends<forward> {
  using extends::overdub;
  auto overdub(decltype(wave) f, auto x) { return tag(f(x.inner), 42.0 * x.metadata); }
};

TEST_CASE("a rule for a user's function is its custom derivative") {
  CHECK(overdub::run(with_derivative_of_wave{}, wave, tag(0.7, 1.0)).metadata == 42.0);
  auto const program = [](auto x) { return wave(x * 2.0) + x; };
  CHECK(overdub::run(with_derivative_of_wave{}, program, tag(0.7, 1.0)).metadata == 85.0);
  counting outside;
  CHECK(overdub::run(compose(outside, with_derivative_of_wave{}), program, tag(0.7, 1.0)).metadata == 85.0);
  CHECK(outside.calls == 3);
}

TEST_CASE("a native function of inactive arguments is a constant") {
  constexpr auto lookup = leaf<"lookup">([](i64 i) { return static_cast<double>(i) * 2.0; });
  auto const program = [=](auto x, auto i) { return lookup(i) * x; };
  CHECK(overdub::run(forward{}, program, tag(3.0, 1.0), i64{4}).metadata == 8.0);
}

} // namespace
