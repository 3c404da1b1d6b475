// Derivatives of operations on real numbers in closed forms without cancellation, in long double; and magnitudes for tests.
#pragma once

#include <overdub/special.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace closed_forms {

using real = long double;

inline real squared(real x) { return x * x; }

// The first and second derivative of a unary operation.
struct derivatives {
  real first, second;
};

/// Of the named operations; NaN outside of their domains.
inline derivatives of_one(std::string_view name, real x) {
  using std::exp, std::log, std::sqrt, std::sin, std::cos, std::sinh, std::cosh;
  constexpr real ln2 = std::numbers::ln2_v<real>, ln10 = std::numbers::ln10_v<real>;
  constexpr real nan = std::numeric_limits<real>::quiet_NaN();
  real const below = (1 - x) * (1 + x), above = sqrt(x - 1) * sqrt(x + 1),
             bell = exp(-x * x) * 2 * std::numbers::inv_sqrtpi_v<real>;
  if (name == "sqrt") return {1 / (2 * sqrt(x)), -1 / (4 * x * sqrt(x))};
  if (name == "cbrt") return {1 / (3 * squared(std::cbrt(x))), -2 / (9 * x * squared(std::cbrt(x)))};
  if (name == "exp") return {exp(x), exp(x)};
  if (name == "exp2") return {std::exp2(x) * ln2, std::exp2(x) * ln2 * ln2};
  if (name == "expm1") return {exp(x), exp(x)};
  if (name == "log") return {1 / x, -1 / (x * x)};
  if (name == "log2") return {1 / (x * ln2), -1 / (x * x * ln2)};
  if (name == "log10") return {1 / (x * ln10), -1 / (x * x * ln10)};
  if (name == "log1p") return {1 / (1 + x), -1 / squared(1 + x)};
  if (name == "sin") return {cos(x), -sin(x)};
  if (name == "cos") return {-sin(x), -cos(x)};
  if (name == "tan") return {1 / squared(cos(x)), 2 * std::tan(x) / squared(cos(x))};
  if (name == "asin") return {1 / sqrt(below), x / (below * sqrt(below))};
  if (name == "acos") return {-1 / sqrt(below), -x / (below * sqrt(below))};
  if (name == "atan") return {1 / (1 + x * x), -2 * x / squared(1 + x * x)};
  if (name == "sinh") return {cosh(x), sinh(x)};
  if (name == "cosh") return {sinh(x), cosh(x)};
  if (name == "asinh") return {1 / std::hypot(x, real(1)), -x / std::pow(std::hypot(x, real(1)), real(3))};
  if (name == "acosh") return {1 / above, -x / (above * above * above)};
  if (name == "atanh")
    return below > 0 ? derivatives{1 / below, 2 * x / (below * below)} : derivatives{nan, nan};
  if (name == "erf") return {bell, -2 * x * bell};
  if (name == "erfc") return {-bell, 2 * x * bell};
  if (name == "lgamma")
    return {overdub::special_functions<real>::digamma(x), overdub::special_functions<real>::polygamma(1, x)};
  if (name == "tgamma") {
    real const digamma = overdub::special_functions<real>::digamma(x);
    return {
        std::tgamma(x) * digamma,
        std::tgamma(x) * (squared(digamma) + overdub::special_functions<real>::polygamma(1, x))};
  }
  throw std::invalid_argument("no closed form of " + std::string(name));
}

// The partial derivatives of a binary operation.
struct partial_derivatives {
  real x, y;
};
inline partial_derivatives of_two(std::string_view name, real x, real y) {
  real const far = std::hypot(x, y);
  if (name == "mul") return {y, x};
  if (name == "div") return {1 / y, -x / y / y};
  if (name == "hypot") return {x / far, y / far};
  if (name == "atan2") return {y / far / far, -x / far / far};
  if (name == "pow") return {y * std::pow(x, y - 1), std::pow(x, y) * std::log(x)};
  throw std::invalid_argument("no closed form of " + std::string(name));
}

/// Numbers of all magnitudes, of both signs, and near 1 and the other numbers where formulas cancel.
inline std::vector<double> magnitudes() {
  std::vector<double> all;
  for (int e = -300; e <= 300; e += 25)
    for (double const digits : {1.0, 1.7320508075688772, 3.1415926535897931})
      all.push_back(digits * std::pow(10.0, e));
  for (int e = -16; e <= -1; ++e)
    for (double const near : {1.0, -1.0})
      for (double const distance : {std::pow(10.0, e), -1.3 * std::pow(10.0, e)})
        all.push_back(near + distance);
  for (double x = 0.0625; x < 800; x *= 1.37) all.push_back(x);
  all.push_back(9007199254740996.0); // its predecessor is rounded
  all.push_back(1 + 7e-14);
  std::size_t const half = all.size();
  for (std::size_t i = 0; i < half; ++i) all.push_back(-all[i]);
  return all;
}

/// The error of a number in units of the last place; 0 if the exact one is no normal number.
template <class T>
real distance(T found, real right) {
  using limits = std::numeric_limits<T>;
  if (std::isnan(right) || std::abs(right) > limits::max()) return 0;
  if (!std::isfinite(found)) return std::numeric_limits<real>::infinity();
  if (std::abs(right) < limits::min()) return 0;
  int exponent = 0;
  std::frexp(right, &exponent);
  return std::abs(found - right) / std::ldexp(real(1), exponent - limits::digits);
}

} // namespace closed_forms
