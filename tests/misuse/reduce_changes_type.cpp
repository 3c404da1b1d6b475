// The function of reduce returns another type than the elements.
// expect: overdub: the function given to reduce returns another type than the array's elements
// expect: "any"
#include <overdub/overdub.hpp>

constexpr auto any = overdub::fn<"any">([](auto xs) {
#ifdef OVERDUB_MENDED
  return overdub::reduce([](auto x, auto y) { return max(x, y); }, xs) > 0.0;
#else
  return overdub::reduce([](auto x, auto y) { return x > 0.0 || y > 0.0; }, xs);
#endif
});

bool run(overdub::array<double> xs) {
  overdub::context context;
  return overdub::run(context, any, xs);
}
