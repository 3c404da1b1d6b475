// Digamma and polygamma, with Boost.Math: include it to differentiate lgamma and tgamma.
#pragma once

#include <overdub/call/native.hpp>
#include <overdub/call/special_table.hpp>

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>

#include <concepts>
#include <limits>

namespace overdub {

template <std::floating_point T>
struct special_functions<T> {
  static constexpr bool provided = true;

  // At its poles (0, -1, -2, ...) and outside of its domain the functions give NaN, as <cmath> does.
  using policy = boost::math::policies::policy<
      boost::math::policies::domain_error<boost::math::policies::ignore_error>,
      boost::math::policies::pole_error<boost::math::policies::ignore_error>,
      boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
      boost::math::policies::evaluation_error<boost::math::policies::ignore_error>,
      boost::math::policies::promote_float<false>>;

  static T digamma(T x) { return boost::math::digamma(x, policy{}); }
  static T polygamma(int n, T x) { return boost::math::polygamma(n, x, policy{}); }
};

template <std::integral T>
struct special_functions<T> : special_functions<double> {};

namespace detail {
inline bool const special_is_there =
    (special = {
         .digamma_f64 = [](double x) { return native::digamma(x); },
         .digamma_f32 = [](float x) { return native::digamma(x); },
         .polygamma_f64 = [](std::int64_t n, double x) { return native::polygamma(n, x); },
         .polygamma_f32 = [](std::int64_t n, float x) { return native::polygamma(n, x); }},
     true);
} // namespace detail

} // namespace overdub
