// A rule that names a primitive takes another number of arguments than the primitive.
// expect: overdub: the context has a rule that names this function, but with another number of arguments
// expect: sin_t
#include <overdub/overdub.hpp>

struct tracer : overdub::context {
#ifdef OVERDUB_MENDED
  auto overdub(overdub::sin_t f, auto x) { return f(x); }
#else
  auto overdub(overdub::sin_t f, auto x, auto) { return f(x); }
#endif
};

constexpr auto wave = overdub::fn<"wave">([](auto x) { return sin(x) + 1.0; });

double run(double x) {
  tracer context;
  return overdub::run(context, wave, x);
}
