// A const context.
// expect: overdub: a context to run in must not be const
// expect: counter
#include <overdub/overdub.hpp>

struct counter : overdub::context {
  int calls = 0;
  void before(overdub::callee auto, auto const&...) { ++calls; }
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
#ifdef OVERDUB_MENDED
  counter context;
#else
  counter const context;
#endif
  return overdub::run(context, twice, x);
}
