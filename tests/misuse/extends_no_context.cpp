// extends takes a class that is no context.
// expect: overdub: extends<...> takes contexts
// expect: counters
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
struct counters : overdub::context {
#else
struct counters {
#endif
  int calls = 0;
};
struct counting : overdub::extends<counters> {
  void before(overdub::callee auto, auto const&...) { ++calls; }
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
  counting context;
  return overdub::run(context, twice, x);
}
