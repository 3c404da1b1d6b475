// Derivatives of functions that take derivatives: perturbations are not confused.
#include "catch.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

#include <utility>

namespace {

using namespace overdub;
using contexts::forward;

struct no_op : context {};

// The derivative by an inner run, started from the scope.
template <class Scope, class F, class X>
auto derivative_in(Scope const& cx, F const& f, X const& x) {
  return overdub::overdub(forward{}, cx, f, tag(x, 1.0)).metadata;
}

TEST_CASE("D(x -> x D(y -> x + y)) is 1, wherever the inner derivative is taken") {
  auto const at_x = [](auto x) { return x * derivative([x](auto y) { return x + y; }, x); };
  auto const at_other = [](auto x) { return x * derivative([x](auto y) { return x + y; }, x * 5.0); };
  auto const by_reference = [](auto x) { return x * derivative([&](auto y) { return x + y; }, x); };
  CHECK(derivative(at_x, 3.0) == 1.0);
  CHECK(derivative(at_other, 3.0) == 1.0);
  CHECK(derivative(by_reference, 3.0) == 1.0);
}

TEST_CASE("D(x -> x D(y -> x y)) is 2 x") {
  auto const f = [](auto x) { return x * derivative([x](auto y) { return x * y; }, x); };
  CHECK(derivative(f, 3.0) == 6.0);
}

TEST_CASE("the inner run can be started from a constant that the outer run lifted") {
  auto const f = [](scope auto& cx, auto x) {
    return x * derivative([x](auto y) { return x + y; }, cx.lift(1.0));
  };
  CHECK(derivative(f, 3.0) == 1.0);
  auto const g = [](scope auto& cx, auto x) {
    return x * derivative_in(
                   cx, [x](auto y) { return x * y; }, 1.0);
  };
  CHECK(derivative(g, 3.0) == 6.0);
}

TEST_CASE("a tagged argument instead of a capture is a constant of the inner run") {
  auto const sum = [](auto x, auto y) { return x + y; };
  auto const f = [&](auto x) { return x * overdub::run(forward{}, sum, x, tag(x, 1.0)).metadata; };
  CHECK(derivative(f, 3.0) == 1.0);
  auto const product = [](auto x, auto y) { return x * y; };
  auto const g = [&](auto x) { return x * overdub::run(forward{}, product, x, tag(2.0, 1.0)).metadata; };
  CHECK(derivative(g, 3.0) == 6.0);
}

TEST_CASE("a function object that captures an outer value may be an argument of the inner run") {
  auto const apply = [](auto const& h, auto y) { return h(y); };
  auto const f = [&](auto x) {
    return x * overdub::run(
                   forward{}, apply, [x](auto y) { return x + y; }, tag(x, 1.0))
                   .metadata;
  };
  CHECK(derivative(f, 3.0) == 1.0);
}

TEST_CASE("three nested runs keep their perturbations separate") {
  // At z = y: d/dz of x y z is x y; at y = x: d/dy of y (x y) is 2 x y = 2 x^2; d/dx of x (2 x^2) is 6 x^2.
  auto const f = [](auto x) {
    return x * derivative([x](auto y) { return y * derivative([x, y](auto z) { return x * y * z; }, y); }, x);
  };
  CHECK(derivative(f, 3.0) == 54.0);
}

template <int Depth>
struct nested {
  template <class X>
  auto operator()(X x) const {
    if constexpr (Depth == 0)
      return x * x * x * x;
    else
      return x * derivative(nested<Depth - 1>{}, x);
  }
};

TEST_CASE("a captureless function may take derivatives of itself, to any depth") {
  CHECK(derivative(nested<0>{}, 2.0) == 32.0);
  CHECK(derivative(nested<1>{}, 2.0) == 4.0 * 4.0 * 8.0);
  CHECK(derivative(nested<2>{}, 2.0) == 16.0 * 4.0 * 8.0);
  CHECK(derivative(nested<3>{}, 2.0) == 64.0 * 4.0 * 8.0);
}

TEST_CASE("derivatives of one function object at two levels are two runs") {
  double const k = 3.0;
  auto const cube = [k](auto x) { return k * x * x * x; };
  auto const second = [&](auto x) { return derivative(cube, x); };
  CHECK(derivative(second, 2.0) == 36.0);
  CHECK(derivative([&](auto x) { return derivative(second, x); }, 2.0) == 18.0);
}

TEST_CASE("a gradient works in a derivative, and a derivative in a gradient") {
  auto const inner_gradient = [](auto x) {
    auto const directional = [x](auto xs) { return sum(map([&](auto e) { return e * e * x; }, xs)); };
    auto const r = overdub::run(forward{}, directional, tag(fill(i64{3}, x), fill(i64{3}, 1.0)));
    return r.metadata; // 6 x^2
  };
  CHECK(derivative(inner_gradient, 2.0) == 24.0);
  auto const inner_derivative = [](auto xs) {
    return sum(map([](auto x) { return x * derivative([x](auto y) { return x * y * y; }, x); }, xs)); // 2 x^3
  };
  CHECK(forward_gradient(inner_derivative, array<double>{1.0, 2.0}) == array<double>{6.0, 24.0});
}

TEST_CASE("a derivative works in a map, a loop and a branch of a derivative") {
  auto const in_map = [](auto x) {
    return sum(
        map([x](auto e) { return derivative([&](auto y) { return x * y * y; }, e); }, fill(i64{2}, x)));
  };
  CHECK(derivative(in_map, 3.0) == 24.0); // 4 x^2
  auto const in_loop = [](auto x) {
    return loop(i64{2}, x, [&](auto, auto s) { return s * derivative([&](auto y) { return x * y; }, s); });
  };
  CHECK(derivative(in_loop, 3.0) == 27.0); // x^3
  auto const in_branch = [](auto x) {
    return if_(
        x > 0.0, [&] { return derivative([&](auto y) { return x * x * y; }, x); }, [] { return 0.0; });
  };
  CHECK(derivative(in_branch, 3.0) == 6.0);
}

TEST_CASE("nested derivatives are correct with a context that does nothing, inside and outside") {
  auto const f = [](auto x) { return x * derivative([x](auto y) { return x + y; }, x); };
  auto const run_in = [&](auto contexts) { return overdub::run(contexts, f, tag(3.0, 1.0)); };
  CHECK(run_in(compose(no_op{}, forward{})).metadata == 1.0);
  CHECK(run_in(compose(forward{}, no_op{})).metadata == 1.0);
  CHECK(run_in(compose(no_op{}, forward{}, no_op{})).metadata == 1.0);
}

TEST_CASE("composing forward with itself computes second derivatives") {
  auto const f = [](auto x) { return overdub::sin(x) * x; };
  auto const r = overdub::run(compose(forward{}, forward{}), f, tag(tag(2.0, 1.0), tag(1.0, 0.0)));
  CHECK(r.inner.inner == f(2.0));
  CHECK(close(r.inner.metadata, derivative(f, 2.0), 1e-15));
  CHECK(close(r.metadata.metadata, derivative([&](auto x) { return derivative(f, x); }, 2.0), 1e-15));
}

TEST_CASE("composing forward with itself computes second derivatives of functions of arrays") {
  auto const cubes = [](auto xs) { return overdub::map([](auto x) { return x * x * x; }, xs); };
  auto const both = compose(forward{}, forward{});
  array<double> const xs{2.0, 3.0}, direction{1.0, 0.5}, zeros{0.0, 0.0};
  auto const r = overdub::run(both, cubes, tag(tag(xs, direction), tag(direction, zeros)));
  CHECK(r.inner.inner == array<double>{8.0, 27.0});
  CHECK(r.inner.metadata == array<double>{12.0, 13.5});
  CHECK(r.metadata.inner == array<double>{12.0, 13.5});
  CHECK(r.metadata.metadata == array<double>{12.0, 4.5});
  // One tag for all elements, and three contexts.
  auto const s = overdub::run(both, cubes, tag(tag(xs, 1.0), tag(1.0, 0.0)));
  CHECK(s.metadata.metadata == array<double>{12.0, 18.0});
  auto const three = overdub::run(
      compose(forward{}, forward{}, forward{}), cubes,
      tag(tag(tag(xs, direction), tag(direction, zeros)), tag(tag(direction, zeros), tag(zeros, zeros))));
  CHECK(three.metadata.metadata.metadata == array<double>{6.0, 0.75});
}

} // namespace
