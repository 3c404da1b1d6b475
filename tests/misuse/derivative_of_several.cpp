// The derivative of a function of several numbers.
// expect: overdub: derivative\(f, x\) is that of a function of one number
#include <overdub/derivative.hpp>

constexpr auto product = overdub::fn<"product">([](auto x, auto y) { return x * y; });

double run() {
#ifdef OVERDUB_MENDED
  return overdub::derivative([](auto x) { return product(2.0, x); }, 3.0);
#else
  return overdub::derivative(product, 2.0, 3.0);
#endif
}
