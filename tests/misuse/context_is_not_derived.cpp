// A class with rules and hooks that does not derive from overdub::context.
// expect: overdub: this is no context; derive its class from overdub::context
// expect: counter
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
struct counter : overdub::context {
#else
struct counter {
#endif
  int calls = 0;
  void before(overdub::callee auto, auto const&...) { ++calls; }
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
  counter context;
  return overdub::run(context, twice, x);
}
