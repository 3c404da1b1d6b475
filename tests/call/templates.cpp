// Function templates over a scalar type, written for numbers, run in contexts unchanged: their values equal those on numbers bit for bit,
// and their derivatives the closed forms.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <sstream>
#include <type_traits>
#include <vector>

namespace plain {

template <class T>
T log_sum_exp(std::size_t n, T const* x) {
  using std::exp, std::log;
  T largest = x[0];
  for (std::size_t i = 1; i < n; ++i) largest = std::max(largest, x[i]);
  T sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += exp(x[i] - largest);
  return log(sum) + largest;
}

// The sum of the squared distances of points on a line to the closest centre.
template <class T>
T cost(std::size_t n, double const* points, std::size_t k, T const* centres) {
  T total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    T closest = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < k; ++j) {
      T const distance = points[i] - centres[j];
      closest = std::min(closest, T(distance * distance));
    }
    total += closest;
  }
  return total;
}

// The determinant by minors.
template <class T>
T determinant(std::size_t n, T const* a) {
  if (n == 1) return a[0];
  T sum(0);
  int sign = 1;
  for (std::size_t column = 0; column < n; ++column) {
    std::vector<T> minor((n - 1) * (n - 1));
    for (std::size_t i = 1; i < n; ++i)
      for (std::size_t j = 0, k = 0; j < n; ++j)
        if (j != column) minor[(i - 1) * (n - 1) + k++] = a[i * n + j];
    sum += sign * a[column] * determinant(n - 1, minor.data());
    sign = -sign;
  }
  return sum;
}

// y' = rate y from y(0) = 1 to time 1, by Heun's method.
template <class T>
T grow(std::size_t steps, T const* rate) {
  T const h = T(1) / T(steps);
  T y{1};
  for (std::size_t i = 0; i < steps; ++i) {
    T const slope = *rate * y;
    T const next = *rate * (y + h * slope);
    y += h / T(2) * (slope + next);
  }
  return y;
}

template <class T>
T sign(T x) {
  return (T(0) < x) - (x < T(0));
}
// The sum of (sign(t) - the polynomial in t)^2 over t = -1, ..., 1.
template <class T>
void fit(std::size_t n, std::size_t m, T const* x, T* out) {
  T sum = T(0);
  for (std::size_t i = 0; i < n; ++i) {
    T const t = -1.0 + 2.0 * static_cast<double>(i) / static_cast<double>(n - 1);
    T error = sign(t), power = 1;
    for (std::size_t j = 0; j < m; ++j) {
      error -= x[j] * power;
      power *= t;
    }
    sum += error * error;
  }
  *out = sum / T(2);
}

template <class T>
T sigmoid(T x) {
  using std::exp;
  return 1 / (1 + exp(-x));
}
// One gated cell, with a state that starts as a constant.
template <class T>
T gated(std::size_t n, T const* x) {
  using std::tanh;
  T cell = 0.0, hidden{};
  int steps = 0;
  for (std::size_t i = 0; i < n; ++i, ++steps) {
    cell = cell * sigmoid(hidden) + sigmoid<T>(x[i]) * tanh(x[i]);
    hidden = tanh(cell);
  }
  return -hidden / steps;
}

} // namespace plain

namespace {

namespace od = overdub;
namespace contexts = od::contexts;

template <class V>
using element = std::remove_cvref_t<decltype(std::declval<V>()[0])>;

constexpr double points[] = {-2.0, -1.5, 0.25, 3.0};

constexpr auto log_sum_exp =
    od::fn<"log_sum_exp">([](auto const& x) { return plain::log_sum_exp(x.size(), x.data()); });
constexpr auto cost =
    od::fn<"cost">([](auto const& x) { return plain::cost(std::size(points), points, x.size(), x.data()); });
constexpr auto determinant =
    od::fn<"determinant">([](auto const& x) { return plain::determinant(3, x.data()); });
constexpr auto grow = od::fn<"grow">([](auto const& x) { return plain::grow(10, x.data()); });
constexpr auto fit = od::fn<"fit">([](auto const& x) {
  element<decltype(x)> result;
  plain::fit(5, x.size(), x.data(), &result);
  return result;
});
constexpr auto gated = od::fn<"gated">([](auto const& x) { return plain::gated(x.size(), x.data()); });

// Checks that f has the same bits in all contexts, and returns its derivatives by forward.
template <class F>
std::vector<double> derivatives(F const& f, std::vector<double> const& x) {
  double const expected = f(x);
  contexts::count count;
  std::ostringstream text;
  contexts::log log(text);
  CHECK(od::run(count, f, x) == expected);
  CHECK(count.primitives > 0);
  CHECK(od::run(log, f, x) == expected);
  CHECK(text.str().find(F::name()) == 0);
  CHECK(od::run(contexts::trace{}, f, x) == expected);
  std::vector<double> all;
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<od::tagged<double, double>> tagged;
    for (std::size_t j = 0; j < x.size(); ++j) tagged.push_back(od::tag(x[j], i == j ? 1.0 : 0.0));
    auto const along = od::run(contexts::forward{}, f, tagged);
    CHECK(along.inner == expected);
    contexts::count with_forward;
    auto const composed = od::run(od::compose(with_forward, contexts::forward{}), f, tagged);
    CHECK(composed.inner == expected);
    CHECK(composed.metadata == along.metadata);
    CHECK(with_forward.primitives == count.primitives);
    all.push_back(along.metadata);
  }
  return all;
}
void check_near(std::vector<double> const& found, std::vector<double> const& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - expected[i]) < 1e-12);
}

TEST_CASE("log-sum-exp: its derivatives are the softmax") {
  std::vector const x{0.5, -1.0, 2.0};
  double const sum = std::exp(0.5) + std::exp(-1.0) + std::exp(2.0);
  check_near(derivatives(log_sum_exp, x), {std::exp(0.5) / sum, std::exp(-1.0) / sum, std::exp(2.0) / sum});
}

TEST_CASE("squared distances to the closest centre") {
  check_near(derivatives(cost, {-1.0, 2.0}), {2.0 * (1.0 + 0.5 - 1.25), 2.0 * -1.0});
}

TEST_CASE("a determinant by minors: its derivatives are the cofactors") {
  check_near(derivatives(determinant, {2, 1, 0, 1, 3, 1, 0, 1, 4}), {11, -4, 1, -4, 8, -2, 1, -2, 5});
}

TEST_CASE("a differential equation in steps of constants") {
  double const h = 0.1, rate = 0.7, step = 1.0 + h * rate + h * h * rate * rate / 2.0;
  check_near(derivatives(grow, {rate}), {10.0 * std::pow(step, 9.0) * (h + h * h * rate)});
}

TEST_CASE("least squares with a sign function of constants") {
  // Errors at t = -1, -1/2, 0, 1/2, 1 of the polynomial 1/2 + 2 t.
  std::vector const errors{0.5, -0.5, -0.5, -0.5, -1.5}, t{-1.0, -0.5, 0.0, 0.5, 1.0};
  double constant = 0, linear = 0;
  for (std::size_t i = 0; i < t.size(); ++i) constant -= errors[i], linear -= errors[i] * t[i];
  check_near(derivatives(fit, {0.5, 2.0}), {constant, linear});
}

TEST_CASE("a gated cell with a state that starts at zero") {
  double const x = 0.3, s = 1.0 / (1.0 + std::exp(-x)), tangent = std::tanh(x);
  double const cell = s * tangent, slope = s * (1.0 - s) * tangent + s * (1.0 - tangent * tangent);
  check_near(derivatives(gated, {x}), {-(1.0 - std::tanh(cell) * std::tanh(cell)) * slope});
  CHECK(derivatives(gated, {0.3, -0.2, 0.7}).size() == 3);
}

} // namespace
