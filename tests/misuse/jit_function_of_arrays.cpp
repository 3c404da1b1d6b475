// expect: overdub: a compiled function of this kind takes and returns bool, i64, float and double
#include <overdub/jit/jit.hpp>

#include <vector>

double call(overdub::executable const& run, std::vector<double> const& x) {
#ifdef OVERDUB_MENDED
  return run.call<double>(x);
#else
  return overdub::jit::function<double(std::vector<double>)>(run)(x);
#endif
}
