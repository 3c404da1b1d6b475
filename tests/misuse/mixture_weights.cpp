// A mixture of two distributions, with one weight.
// expect: overdub: mixture takes weights, a std::tuple or std::array, and a distribution for each of them
#include <overdub/distributions.hpp>

#include <tuple>

namespace ds = overdub::distributions;

double run(double x) {
#ifdef OVERDUB_MENDED
  return log_density(ds::mixture(std::tuple(1, 2), ds::normal(0, 1), ds::normal(1, 1)), x);
#else
  return log_density(ds::mixture(std::tuple(1), ds::normal(0, 1), ds::normal(1, 1)), x);
#endif
}
