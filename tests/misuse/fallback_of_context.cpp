// A rule goes on by its call: fallback(*this, f, x...) would not know the contexts below where all arguments are plain.
// expect: overdub: a rule goes on by its call
#include <overdub/overdub.hpp>

constexpr auto wave = overdub::fn<"wave">([](auto x) { return sin(x); });

struct noted : overdub::context {
  int sines = 0;
#ifdef OVERDUB_MENDED
  auto overdub(overdub::rule_call auto call, overdub::sin_t, auto x) { return ++sines, call.fallback(x); }
#else
  auto overdub(overdub::sin_t f, auto x) { return ++sines, fallback(*this, f, x); }
#endif
};

double run(double x) {
  noted context;
  return overdub::run(context, wave, x);
}
