// A native function is called with arguments that it does not take.
// expect: overdub: a leaf's native function cannot be called with these arguments
// expect: "lookup"
#include <overdub/overdub.hpp>

constexpr auto lookup = overdub::leaf<"lookup">([](double x) { return x + 1.0; });
constexpr auto price = overdub::fn<"price">([](auto x) {
#ifdef OVERDUB_MENDED
  return lookup(x) * 2.0;
#else
  return lookup(x, x) * 2.0;
#endif
});

double run(double x) {
  overdub::context context;
  return overdub::run(context, price, x);
}
