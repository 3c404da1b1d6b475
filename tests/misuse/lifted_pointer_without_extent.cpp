// A lifted function is given a pointer, and does not say how long its memory is.
// expect: overdub: a lifted function is given a pointer whose length is unknown
#include <overdub/contexts/count.hpp>
#include <overdub/lifted.hpp>

double norm(double const* x, long n);

#ifdef OVERDUB_MENDED
constexpr auto lifted_norm = overdub::lifted<&norm>(overdub::extent<0>(overdub::arg<1>));
#else
constexpr auto lifted_norm = overdub::lifted<&norm>();
#endif

double run(double const* x, long n) {
  overdub::contexts::count count;
  return overdub::run(count, lifted_norm, x, n);
}
