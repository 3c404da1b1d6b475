#pragma once

#include <overdub/special.hpp>

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>

namespace overdub {
namespace detail {

using special_policy = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>,
    boost::math::policies::promote_float<false>>;

} // namespace detail

template <has_special_functions T>
T special_functions<T>::digamma(T x) {
  return boost::math::digamma(x, detail::special_policy{});
}
template <has_special_functions T>
T special_functions<T>::polygamma(int n, T x) {
  return boost::math::polygamma(n, x, detail::special_policy{});
}

#if !OVERDUB_HEADER_ONLY
template struct special_functions<float>;
template struct special_functions<double>;
template struct special_functions<long double>;
#endif

} // namespace overdub
