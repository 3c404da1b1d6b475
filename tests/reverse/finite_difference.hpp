// The oracle of derivatives: central differences of fourth order, and points at which each operation is differentiated.
#pragma once

#include <overdub/overdub.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

// f'(x) by five points: the error is about h^4 plus the rounding error of f over h.
template <class F>
double finite_difference(F const& f, double x) {
  double const h = 1e-3;
  return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h);
}

inline bool close(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

// The domain in which an operation is smooth, for each argument.
struct domain {
  std::string_view op;
  std::array<double, 3> low, high;
};

inline constexpr domain anywhere{"", {-3.0, -3.0, -3.0}, {3.0, 3.0, 3.0}};
inline constexpr domain domains[] = {
    {"div", {-3.0, 0.5, 0.0}, {3.0, 3.0, 0.0}},   {"sqrt", {0.2, 0.0, 0.0}, {5.0, 0.0, 0.0}},
    {"cbrt", {0.2, 0.0, 0.0}, {5.0, 0.0, 0.0}},   {"pow", {0.2, -3.0, 0.0}, {4.0, 3.0, 0.0}},
    {"hypot", {0.3, -3.0, 0.0}, {3.0, 3.0, 0.0}}, {"log", {0.2, 0.0, 0.0}, {5.0, 0.0, 0.0}},
    {"log2", {0.2, 0.0, 0.0}, {5.0, 0.0, 0.0}},   {"log10", {0.2, 0.0, 0.0}, {5.0, 0.0, 0.0}},
    {"log1p", {-0.8, 0.0, 0.0}, {5.0, 0.0, 0.0}}, {"tan", {-1.2, 0.0, 0.0}, {1.2, 0.0, 0.0}},
    {"asin", {-0.9, 0.0, 0.0}, {0.9, 0.0, 0.0}},  {"acos", {-0.9, 0.0, 0.0}, {0.9, 0.0, 0.0}},
    {"atanh", {-0.9, 0.0, 0.0}, {0.9, 0.0, 0.0}}, {"acosh", {1.2, 0.0, 0.0}, {5.0, 0.0, 0.0}},
    {"atan2", {0.3, -3.0, 0.0}, {3.0, 3.0, 0.0}}, {"tgamma", {0.5, 0.0, 0.0}, {4.0, 0.0, 0.0}},
    {"lgamma", {0.5, 0.0, 0.0}, {5.0, 0.0, 0.0}}, {"digamma", {0.5, 0.0, 0.0}, {5.0, 0.0, 0.0}},
    {"fmod", {0.3, 4.0, 0.0}, {3.0, 5.0, 0.0}},   {"remainder", {-3.0, 1.7, 0.0}, {3.0, 1.9, 0.0}},
};

constexpr domain domain_of(std::string_view op) {
  for (domain const& d : domains)
    if (d.op == op) return d;
  return anywhere;
}

// Points of a domain: fractions away from integers, halves and each other, where some operations jump.
inline constexpr double fractions[3][7] = {
    {0.0137, 0.1713, 0.3117, 0.4431, 0.6137, 0.8297, 0.9831},
    {0.0571, 0.2217, 0.3893, 0.5417, 0.6891, 0.7413, 0.9317},
    {0.1117, 0.3571, 0.4917, 0.5871, 0.7773, 0.8719, 0.9571}};

template <class F>
void for_points(domain const& d, int arity, F const& f) {
  auto at = [&](int argument, int i) {
    auto const a = static_cast<std::size_t>(argument);
    return d.low[a] + (d.high[a] - d.low[a]) * fractions[argument][i];
  };
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < (arity > 1 ? 7 : 1); ++j)
      for (int k = 0; k < (arity > 2 ? 7 : 1); ++k) f(at(0, i), at(1, j), at(2, k));
}
