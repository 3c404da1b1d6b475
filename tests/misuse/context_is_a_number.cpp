// A number instead of the context.
// expect: overdub: this is no context; derive its class from overdub::context
// expect: "twice"
#include <overdub/overdub.hpp>

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
#ifdef OVERDUB_MENDED
  overdub::context context;
  return overdub::overdub(context, twice, x);
#else
  return overdub::overdub(5, twice, x);
#endif
}
