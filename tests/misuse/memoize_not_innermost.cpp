// A memoizing context outside of another one would store nothing.
// expect: overdub: memoize compares plain numbers and must be the innermost context
// expect: "square"
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/memoize.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

double run(double x) {
  overdub::contexts::count count;
  overdub::contexts::memoize memoize;
#ifdef OVERDUB_MENDED
  return overdub::run(overdub::compose(count, memoize), square, x);
#else
  return overdub::run(overdub::compose(memoize, count), square, x);
#endif
}
