// fast_math: elementary functions by short polynomials, for programs that need no more than ten digits.
#pragma once

#include <overdub/overdub.hpp>

#include <concepts>

namespace overdub::contexts {

/// Replaces sin, cos, tan, exp and tanh of doubles. Errors, for finite arguments: sin, cos: 1e-10 absolute, |x| <=
/// 1e5; tan: that of an argument which is 1e-10 away, |x| <= 1e5; exp: 1e-10 relative, where the result is a normal
/// number; tanh: 1e-10 absolute. The polynomials are least-squares fits on Chebyshev nodes, written in overdub's
/// operations: inner contexts intercept these, so that compose(fast_math{}, forward{}) differentiates the polynomials. Functions
/// that common libraries compute in the same time (log, exp2, ...) are not replaced.
struct fast_math : context {
  template <class X>
  requires(std::same_as<plain_t<X>, double>) auto overdub(sin_t, X x) const {
    auto const half_turns = nearbyint(x * 0.31830988618379069);
    return alternate(half_turns, sine(reduce(x, half_turns)));
  }

  template <class X>
  requires(std::same_as<plain_t<X>, double>) auto overdub(cos_t, X x) const {
    auto const half_turns = nearbyint(x * 0.31830988618379069 - 0.5);
    return alternate(half_turns, -sine(reduce(x, half_turns + 0.5)));
  }

  template <class X>
  requires(std::same_as<plain_t<X>, double>) auto overdub(tan_t, X x) const {
    auto const angle = reduce(x, nearbyint(x * 0.31830988618379069));
    return sine(angle) / sine(1.5707963267948966 - abs(angle));
  }

  template <class X>
  requires(std::same_as<plain_t<X>, double>) auto overdub(exp_t, X x) const {
    auto const finite = clamp(x, -746.0, 710.0);
    auto const doublings = nearbyint(finite * 1.4426950408889634);
    auto const rest =
        (finite - doublings * 0.69314717967063189 - doublings * 8.8931340069819953e-10) * 1.4426950408889634;
    return ldexp(power_of_two(rest), convert<i64>(doublings));
  }

  template <class X>
  requires(std::same_as<plain_t<X>, double>) auto overdub(tanh_t, X x) const {
    return 1.0 - 2.0 / (overdub(exp, clamp(2.0 * x, -40.0, 40.0)) + 1.0);
  }

private:
  // x less n times pi, in two parts of which the first is short enough to be multiplied without an error.
  static auto reduce(auto const& x, auto const& n) {
    return x - n * 3.1415926516056061 - n * 1.984187036896401e-09;
  }

  // y for an even n, -y for an odd one.
  static auto alternate(auto const& n, auto const& y) { return y * (1.0 - 2.0 * (n - 2.0 * floor(n * 0.5))); }

  // sin(x) on [-pi/2, pi/2]: a polynomial of degree 11.
  static auto sine(auto const& x) {
    auto const u = x * x;
    auto const p = -2.3889498137640968e-08 * u + 2.7525287100122494e-06;
    auto const q = ((p * u - 0.00019840861552331842) * u + 0.008333330977491317) * u - 0.16666666616916673;
    return x * (q * u + 0.9999999999829695);
  }

  // 2^x on [-1/2, 1/2]: a polynomial of degree 7.
  static auto power_of_two(auto const& x) {
    auto const p = (1.531008128040412e-05 * x + 0.00015469731964344648) * x + 0.0013333450559827043;
    auto const q = ((p * x + 0.00961802560298331) * x + 0.05550410941215335) * x + 0.24022651213595142;
    return (q * x + 0.6931471805459309) * x + 0.9999999999595478;
  }
};

} // namespace overdub::contexts
