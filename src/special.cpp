#include <overdub/special.hpp>

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>

#include <cmath>
#include <limits>

namespace overdub {
namespace detail {

using special_policy = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>,
    boost::math::policies::promote_float<false>>;

// Boost.Math returns infinities of either sign at some poles, and throws where an argument does not fit into an integer. Numbers below -2^63
// are whole, and poles.
template <class T>
T polygamma_of(int n, T x) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  if (is_nan(x) || x < T(-9.2e18) || (x <= T(0) && x == std::floor(x))) return nan;
  if (is_infinite(x)) return n == 0 ? x : T(0);
  return boost::math::polygamma(n, x, special_policy{});
}

float special_digamma(float x) { return boost::math::digamma(x, special_policy{}); }
double special_digamma(double x) { return boost::math::digamma(x, special_policy{}); }
long double special_digamma(long double x) { return boost::math::digamma(x, special_policy{}); }
float special_polygamma(int n, float x) { return polygamma_of(n, x); }
double special_polygamma(int n, double x) { return polygamma_of(n, x); }
long double special_polygamma(int n, long double x) { return polygamma_of(n, x); }

} // namespace detail
} // namespace overdub
