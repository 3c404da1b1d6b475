// fault lists sum, which is a reduction by add.
// expect: overdub: sum and dot are no calls of their own
#include <overdub/contexts/fault.hpp>
#include <overdub/overdub.hpp>

constexpr auto total = overdub::fn<"total">([](auto xs) { return overdub::sum(xs); });

double run(overdub::array<double> xs) {
#ifdef OVERDUB_MENDED
  overdub::contexts::fault<overdub::reduce_t> failing(overdub::contexts::nth_call(1));
#else
  overdub::contexts::fault<overdub::sum_t> failing(overdub::contexts::nth_call(1));
#endif
  return overdub::run(failing, total, xs);
}
