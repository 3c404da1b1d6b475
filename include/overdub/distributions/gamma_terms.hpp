// Terms of log densities with gamma functions, without overflow or cancellation.
#pragma once

#include <overdub/distributions/log_terms.hpp>
#include <overdub/special.hpp>

#include <array>
#include <limits>

namespace overdub::distributions {

/// x log(x / m) + m - x for x, m > 0: half of a Poisson deviance. Near x = m by a series (Loader, Fast and Accurate Computation of
/// Binomial Probabilities, 2000).
template <class X, class M>
constexpr auto poisson_deviance(X const& x, M const& m) {
  auto const v = (x - m) / (x + m);
  return if_(
      abs(v) < 0.1,
      [&] {
        constexpr std::array<double, 7> odd{1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15};
        auto const vv = v * v;
        return (x - m) * v + 2.0 * x * v * vv * detail::polynomial(odd, vv);
      },
      [&] { return x * log(x / m) + (m - x); });
}

/// lgamma(a) - ((a - 1/2) log a - a + 1/2 log 2 pi) for a >= 10: Stirling's series (Abramowitz & Stegun, 6.1.41).
template <class A>
constexpr auto stirling_error(A const& a) {
  constexpr std::array<double, 6> c{1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360};
  auto const u = 1.0 / a;
  return u * detail::polynomial(c, u * u);
}

/// log(m^a exp(-m) / Gamma(a + 1)) for a >= 0 and m >= 0: the log probability of a in a Poisson distribution of mean m, for a real a. The
/// densities of the gamma, beta and binomial families use it instead of differences of large lgammas. The error is some units in the last
/// place of the largest of 1, |log m| and the result.
template <class A, class M>
constexpr auto log_poisson_term(A const& a, M const& m) {
  return if_(
      m > 0.0 && m <= std::numeric_limits<double>::max(),
      [&] {
        return if_(
            a >= 10.0,
            [&] { return -poisson_deviance(a, m) - stirling_error(a) - 0.5 * (log_two_pi + log(a)); },
            [&] { return a * log(m) - m - lgamma(a + 1.0); });
      },
      [&] { return select(m <= 0.0 && a <= 0.0, -m, -infinity); });
}

/// lgamma(a + 1/2) - lgamma(a) - 1/2 log a for a > 0.
template <class A>
constexpr auto log_gamma_half_step(A const& a) {
  return if_(
      a >= 10.0, [&] { return stirling_error(a + 0.5) - stirling_error(a) + a * log1p(0.5 / a) - 0.5; },
      [&] { return lgamma(a + 0.5) - lgamma(a) - 0.5 * log(a); });
}

} // namespace overdub::distributions
