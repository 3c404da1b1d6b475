// A context whose class is final.
// expect: overdub: a context's class must not be final
// expect: counter
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
struct counter : overdub::context {
#else
struct counter final : overdub::context {
#endif
  int calls = 0;
  void before(overdub::callee auto, auto const&...) { ++calls; }
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
  counter context;
  return overdub::run(context, twice, x);
}
