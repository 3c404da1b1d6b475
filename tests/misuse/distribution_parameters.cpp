// A distribution lacks a parameter.
// expect: overdub: this distribution has another number of parameters
#include <overdub/distributions.hpp>

namespace ds = overdub::distributions;

double run(double x) {
#ifdef OVERDUB_MENDED
  return log_density(ds::normal(0, 1), x);
#else
  return log_density(ds::normal(0), x);
#endif
}
