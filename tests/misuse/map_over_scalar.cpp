// map over a number.
// expect: overdub: an array is needed here
// expect: "squares"
#include <overdub/overdub.hpp>

constexpr auto squares =
    overdub::fn<"squares">([](auto xs) { return overdub::map([](auto x) { return x * x; }, xs); });

void run(double x) {
  overdub::context context;
#ifdef OVERDUB_MENDED
  overdub::run(context, squares, overdub::array<double>{x});
#else
  overdub::run(context, squares, x);
#endif
}
