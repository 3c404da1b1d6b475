// A rule that takes numbers is called with values of an inner context.
// expect: overdub: the context has a rule that names this function, but it does not take these arguments
// expect: sin_t
#include <overdub/contexts/count.hpp>

struct rough : overdub::context {
#ifdef OVERDUB_MENDED
  auto overdub(overdub::sin_t, auto x) { return x; }
#else
  auto overdub(overdub::sin_t, double x) { return x; }
#endif
};

constexpr auto wave = overdub::fn<"wave">([](auto x) { return overdub::sin(x); });

double run(double x) {
  rough context;
  overdub::contexts::count count;
  return overdub::run(overdub::compose(context, count), wave, x);
}
