// expect: overdub: the argument after the function of a gradient chooses what loops save
#include <overdub/contexts/count.hpp>
#include <overdub/reverse.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

double run(double x) {
  overdub::contexts::count c;
#ifdef OVERDUB_MENDED
  return overdub::gradient(c, square)(x);
#else
  return overdub::gradient(square, c)(x);
#endif
}
