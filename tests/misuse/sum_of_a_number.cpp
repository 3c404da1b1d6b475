// The sum of a number.
// expect: overdub: an array<T> is needed here
// expect: "total"
#include <overdub/overdub.hpp>

constexpr auto total = overdub::fn<"total">([](auto xs) { return overdub::sum(xs); });

double run(double x) {
  overdub::context context;
#ifdef OVERDUB_MENDED
  return overdub::run(context, total, overdub::array<double>{x});
#else
  return overdub::run(context, total, x);
#endif
}
