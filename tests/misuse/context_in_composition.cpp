// A composition with something that is no context.
// expect: overdub: this is no context; derive its class from overdub::context
// expect: counter
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
struct counter : overdub::context {
#else
struct counter {
#endif
  int calls = 0;
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
  overdub::context context;
  return overdub::run(overdub::compose(context, counter{}), twice, x);
}
