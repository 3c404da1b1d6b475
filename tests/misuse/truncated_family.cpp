// A distribution is truncated whose family has no distribution function in overdub's operations.
// expect: overdub: truncated takes a distribution whose family has log_mass
#include <overdub/distributions.hpp>

namespace ds = overdub::distributions;

double run(double x) {
#ifdef OVERDUB_MENDED
  return log_density(ds::truncated(ds::exponential(2), 1, 3), x);
#else
  return log_density(ds::truncated(ds::gamma(2, 2), 1, 3), x);
#endif
}
