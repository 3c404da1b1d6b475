// The number of trials is a floating-point number.
// expect: overdub: a floating-point number is given to a distribution for an integer
#include <overdub/distributions.hpp>

namespace ds = overdub::distributions;

double run() {
#ifdef OVERDUB_MENDED
  return log_density(ds::binomial(2, 0.3), 1);
#else
  return log_density(ds::binomial(2.5, 0.3), 1);
#endif
}
