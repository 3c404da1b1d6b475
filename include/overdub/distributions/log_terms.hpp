// Terms of log densities in overdub's operations, without overflow or cancellation, for numbers and values of contexts. Formulas of
// different parts of the domain are selected by if_.
#pragma once

#include <overdub/overdub.hpp>

#include <array>
#include <cstddef>
#include <limits>

namespace overdub::distributions {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double log_2 = 0.69314718055994530942, log_pi = 1.14472988584940017414,
                        log_two_pi = 1.83787706640934548356, inverse_sqrt_2 = 0.70710678118654752440;

namespace detail {

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
template <std::size_t N, class X>
constexpr auto polynomial(std::array<double, N> const& c, X const& x) {
  auto const from = [&]<std::size_t I>(auto const& self, std::integral_constant<std::size_t, I>) {
    if constexpr (I + 2 == N)
      return c[I] + c[I + 1] * x;
    else
      return c[I] + x * self(self, std::integral_constant<std::size_t, I + 1>{});
  };
  return from(from, std::integral_constant<std::size_t, 0>{});
}

} // namespace detail

/// log(1 + exp(t)).
template <class T>
constexpr auto log1p_exp(T const& t) {
  return max(t, 0.0) + log1p(exp(-abs(t)));
}

/// 1 / (1 + exp(-t)).
template <class T>
constexpr auto logistic(T const& t) {
  auto const e = exp(-abs(t));
  return select(t < 0.0, e, 1.0) / (1.0 + e);
}

/// log(1 + t^2), where t^2 may overflow.
template <class T>
constexpr auto log1p_square(T const& t) {
  auto const large = abs(t) > 1.0;
  auto const s = select(large, abs(t), 1.0);
  auto const u = select(large, 1.0 / s, t);
  return log1p(u * u) + 2.0 * log(s);
}

/// log(exp(a) - exp(b)) for a > b; b may be -infinity.
template <class A, class B>
constexpr auto log_difference(A const& a, B const& b) {
  return a + log(-expm1(b - a));
}

/// The logarithm of the probability that a standard normal variable exceeds z. Beyond 20 by an asymptotic series (Abramowitz & Stegun,
/// 26.2.12).
template <class Z>
constexpr auto log_normal_survival(Z const& z) {
  return if_(
      z < 20.0, [&] { return log(0.5 * erfc(inverse_sqrt_2 * z)); },
      [&] {
        constexpr std::array<double, 8> c{-1, 3, -15, 105, -945, 10395, -135135, 2027025};
        auto const u = 1.0 / (z * z);
        return log1p(u * detail::polynomial(c, u)) - 0.5 * z * z - log(z) - 0.5 * log_two_pi;
      });
}

/// The logarithm of the probability that a standard normal variable lies between finite low < high. The caller passes width = high - low,
/// which it may compute more exactly. Narrow intervals by the series of the integral of exp(-m t - t^2 / 2) about their middle m, in
/// Hermite polynomials (Abramowitz & Stegun, 22.9.17).
template <class L, class H, class W>
constexpr auto log_normal_mass(L const& low, H const& high, W const& width) {
  auto const h = 0.5 * width, m = 0.5 * (low + high);
  return if_(
      h * (1.0 + abs(m)) < 0.3,
      [&] { // p<n> is He_n(m) h^n
        auto const p1 = m * h, u = h * h, p2 = p1 * p1 - u, p3 = p1 * p2 - 2.0 * u * p1,
                   p4 = p1 * p3 - 3.0 * u * p2, p5 = p1 * p4 - 4.0 * u * p3, p6 = p1 * p5 - 5.0 * u * p4,
                   p7 = p1 * p6 - 6.0 * u * p5, p8 = p1 * p7 - 7.0 * u * p6, p9 = p1 * p8 - 8.0 * u * p7,
                   p10 = p1 * p9 - 9.0 * u * p8;
        auto const rest =
            p2 / 6.0 + p4 / 120.0 + p6 / 5040.0 + p8 / 362880.0 + p10 / 39916800.0; // over (n + 1)!
        return log(width) + log1p(rest) - 0.5 * m * m - 0.5 * log_two_pi;
      },
      [&] {
        return if_(
            low < 0.5 && high > -0.5,
            [&] { return log(0.5 * (erf(inverse_sqrt_2 * high) - erf(inverse_sqrt_2 * low))); },
            [&] { // both on one side: of the upper tail
              auto const nearer = select(low < 0.0, -high, low), farther = select(low < 0.0, -low, high);
              return log_difference(log_normal_survival(nearer), log_normal_survival(farther));
            });
      });
}

} // namespace overdub::distributions
