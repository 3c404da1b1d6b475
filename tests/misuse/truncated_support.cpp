// A distribution of integers is truncated.
// expect: overdub: truncated takes a distribution of real numbers
#include <overdub/distributions.hpp>

namespace ds = overdub::distributions;

auto run() {
#ifdef OVERDUB_MENDED
  return support(ds::truncated(ds::exponential(2), 1, 3));
#else
  return support(ds::truncated(ds::poisson(2), 1, 3));
#endif
}
