// enter returns something that is no context.
// expect: overdub: enter\(f\) returns a context or overdub::leave
// expect: "twice"
#include <overdub/overdub.hpp>

struct shallow : overdub::context {
#ifdef OVERDUB_MENDED
  auto enter(overdub::callee auto) { return overdub::leave; }
#else
  auto enter(overdub::callee auto) { return false; }
#endif
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
  shallow context;
  return overdub::run(context, twice, x);
}
