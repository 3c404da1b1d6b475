// Forward-mode differentiation against hand-written dual numbers: the derivative of sin(x + 1), and rosenbrock with 20 tangents.
#include "ratio.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace {

using overdub::derivative;
using overdub::forward_gradient;
using overdub::contexts::forward_along;
using overdub::contexts::tangents;

constexpr int directions = 20;

inline constexpr auto shifted_sine =
    overdub::fn<"shifted_sine">([](auto x) { return overdub::sin(x + 1.0); });
inline constexpr auto rosenbrock = overdub::fn<"rosenbrock">([](auto const& x) {
  return overdub::loop(overdub::size(x) - 1, 0.0, [&](auto i, auto sum) {
    auto const a = overdub::at(x, i), b = overdub::at(x, i + 1);
    auto const c = b - a * a, d = 1.0 - a;
    return sum + 100.0 * c * c + d * d;
  });
});

// The same with one number in place of an array's element: a dual with N tangents.
template <int N>
struct dual {
  double value;
  double tangent[N];

  template <class F>
  static dual each(double value, F const& f) {
    dual r;
    r.value = value;
    for (int i = 0; i < N; ++i) r.tangent[i] = f(i);
    return r;
  }
  friend dual operator+(dual const& a, double b) {
    return each(a.value + b, [&](int i) { return a.tangent[i]; });
  }
  friend dual operator+(dual const& a, dual const& b) {
    return each(a.value + b.value, [&](int i) { return a.tangent[i] + b.tangent[i]; });
  }
  friend dual operator-(dual const& a, dual const& b) {
    return each(a.value - b.value, [&](int i) { return a.tangent[i] - b.tangent[i]; });
  }
  friend dual operator-(double a, dual const& b) {
    return each(a - b.value, [&](int i) { return -b.tangent[i]; });
  }
  friend dual operator*(double a, dual const& b) {
    return each(a * b.value, [&](int i) { return a * b.tangent[i]; });
  }
  friend dual operator*(dual const& a, dual const& b) {
    return each(a.value * b.value, [&](int i) { return a.tangent[i] * b.value + a.value * b.tangent[i]; });
  }
  friend dual sin(dual const& a) {
    double const slope = std::cos(a.value);
    return each(std::sin(a.value), [&](int i) { return slope * a.tangent[i]; });
  }
};

double derivative_by_hand(double x) { return sin(dual<1>{x, {1.0}} + 1.0).tangent[0]; }

template <int N>
dual<N> rosenbrock_by_hand(std::vector<dual<N>> const& x) {
  dual<N> sum{};
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    dual<N> const &a = x[i], &b = x[i + 1];
    dual<N> const c = b - a * a, d = 1.0 - a;
    sum = sum + 100.0 * c * c + d * d;
  }
  return sum;
}
template <int N>
std::vector<dual<N>> seeded(std::vector<double> const& x) {
  std::vector<dual<N>> duals(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) duals[i].value = x[i], duals[i].tangent[i] = 1.0;
  return duals;
}
std::vector<double> gradient_by_hand(std::vector<double> const& x) {
  auto const r = rosenbrock_by_hand(seeded<directions>(x));
  return {r.tangent, r.tangent + directions};
}

template <class F>
auto anew(F f) {
  return [f] {
    bench::forget_memory();
    return f();
  };
}

} // namespace

int main() {
  bench::compare<bench::allocating::forbidden>(
      "the derivative of sin(x + 1)", //
      bench::way{"by hand, dual numbers", 0, [] { return derivative_by_hand(bench::opaque(0.7)); }},
      bench::way{"derivative", 1.03, [] { return derivative(shifted_sine, bench::opaque(0.7)); }});

  std::vector<double> numbers(directions);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0 + 0.05 * static_cast<double>(i);
  auto const duals = seeded<directions>(numbers);

  auto const x = overdub::array<double>::borrow(numbers);
  std::vector<tangents<double, directions>> seeds(numbers.size());
  for (int i = 0; i < directions; ++i) seeds[static_cast<std::size_t>(i)][i] = 1.0;
  auto const dx = overdub::array<tangents<double, directions>>::borrow(seeds);
  forward_along<directions> context;

  bench::compare<bench::allocating::forbidden>(
      "rosenbrock of 20 numbers, differentiated along 20 directions", //
      bench::way{"by hand, duals of 20 tangents", 0, anew([&] { return rosenbrock_by_hand(duals); })},
      bench::way{"under forward_along<20>", 1.03, anew([&] {
                   return overdub::run(context, rosenbrock, overdub::tag(x, dx));
                 })});
  bench::compare(
      "its gradient, the directions set up too", //
      bench::way{"by hand, duals of 20 tangents", 0, anew([&] { return gradient_by_hand(numbers); })},
      bench::way{
          "forward_gradient<20>", 1.03, anew([&] { return forward_gradient<directions>(rosenbrock, x); })});
}
