// A context without state that is not default constructible.
// expect: overdub: a context without state must be default constructible
// expect: tracer
#include <overdub/overdub.hpp>

struct tracer : overdub::context {
#ifdef OVERDUB_MENDED
  tracer() = default;
#endif
  explicit tracer(int) {}
  void before(overdub::callee auto, auto const&...) {}
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
  tracer context(1);
  return overdub::run(context, twice, x);
}
