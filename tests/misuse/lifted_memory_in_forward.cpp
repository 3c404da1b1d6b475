// A lifted function writes to memory in a context with metadata.
// expect: overdub: a lifted function may write by a pointer in a context with metadata, and memory has none; give it od::arrays
#include <overdub/contexts/forward.hpp>
#include <overdub/lifted.hpp>

void scale(double* x, int n, double a);

constexpr auto lifted_scale = overdub::lifted<&scale>(overdub::extent<0>(overdub::arg<1>));

#ifdef OVERDUB_MENDED
auto run(overdub::array<double> x, double a) {
  return overdub::run(
      overdub::contexts::forward{}, lifted_scale, x, static_cast<int>(x.size()), overdub::tag(a, 1.0));
}
#else
void run(double* x, int n, double a) {
  overdub::run(overdub::contexts::forward{}, lifted_scale, x, n, overdub::tag(a, 1.0));
}
#endif
