// A rule for an operation that returns nothing.
// expect: overdub: a rule for an operation returns its result, and not void
// expect: "wave"
#include <overdub/overdub.hpp>

struct silent : overdub::context {
#ifdef OVERDUB_MENDED
  auto overdub(overdub::sin_t f, auto x) { return f(x); }
#else
  void overdub(overdub::sin_t, auto) {}
#endif
};

constexpr auto wave = overdub::fn<"wave">([](auto x) { return sin(x); });

double run() { return overdub::run(silent{}, wave, 2.0); }
