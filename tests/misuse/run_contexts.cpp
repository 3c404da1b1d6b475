// expect: overdub: a run is given a context in the place of the function
// expect: overdub: compile is given a context in the place of the function
#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

void run(double x) {
  overdub::contexts::count c, d;
#ifdef OVERDUB_MENDED
  (void)overdub::run(overdub::compose(c, d), square, x);
  (void)overdub::compile(c, square, overdub::signature<double>)(x);
#else
  (void)overdub::run(c, d, square, x);
  (void)overdub::compile(square, c, overdub::signature<double>);
#endif
}
