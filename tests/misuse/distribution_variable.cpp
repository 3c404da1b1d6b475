// A floating-point number is a variable of a distribution of integers.
// expect: overdub: a floating-point number is given to a distribution for an integer
#include <overdub/distributions.hpp>

namespace ds = overdub::distributions;

double run() {
#ifdef OVERDUB_MENDED
  return log_density(ds::poisson(2.5), 1);
#else
  return log_density(ds::poisson(2.5), 1.5);
#endif
}
