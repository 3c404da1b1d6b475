// A derivative at an integer.
// expect: overdub: this metadata does not convert to the context's metadata<T> for a value of this type.*write 2.0 for 2
// expect: "square"
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

double run() {
#ifdef OVERDUB_MENDED
  return overdub::derivative(square, 2.0);
#else
  overdub::contexts::forward context;
  (void)overdub::run(context, square, overdub::tag(2, 1));
  return 0.0;
#endif
}
