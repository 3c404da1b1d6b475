// expect: overdub: incremental is given several contexts; compose them
// expect: overdub: incremental is given a context after the function
#include <overdub/contexts/count.hpp>
#include <overdub/incremental.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

void run(double x) {
  overdub::contexts::count c, d;
#ifdef OVERDUB_MENDED
  (void)overdub::incremental(overdub::compose(c, d), square, x);
#else
  (void)overdub::incremental(c, d, square, x);
  (void)overdub::incremental(square, c, x);
#endif
}
