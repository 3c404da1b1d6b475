// A value is cast to a plain number.
// expect first: overdub: a cast of a value to a plain floating-point number, which contexts no longer see
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

constexpr auto half = overdub::fn<"half">([](auto n) {
#ifdef OVERDUB_MENDED
  return overdub::convert<double>(n) / 2.0;
#else
  return static_cast<double>(n) / 2.0;
#endif
});

double run(int n) {
  overdub::contexts::count count;
  return overdub::run(count, half, n);
}
