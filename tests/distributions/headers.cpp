// The header of the normal distribution includes no polygamma functions, and defines no macro of xxHash that affects other includes.
#include <overdub/distributions/location_scale.hpp>

#if defined BOOST_MATH_SF_DIGAMMA_HPP || defined _BOOST_POLYGAMMA_2013_07_30_HPP_
#error "location_scale.hpp includes Boost's polygamma functions"
#endif
#ifdef XXH_INLINE_ALL
#error "random.hpp leaves XXH_INLINE_ALL defined"
#endif

#include "catch.hpp"

#include <cmath>

TEST_CASE("a normal density needs no gamma functions") {
  namespace ds = overdub::distributions;
  CHECK(log_density(ds::normal(0, 1), 2) == Approx(-2 - 0.5 * std::log(2 * M_PI)));
  CHECK(log_density(ds::cauchy(0, 1), 1) == Approx(-std::log(2 * M_PI)));
}
