// An argument has metadata, and the context has none.
// expect: overdub: an argument is given as tag\(x, metadata\), and no context of this run keeps metadata
// expect: "twice"
#include <overdub/overdub.hpp>

struct counter : overdub::context {
  int calls = 0;
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
  counter context;
#ifdef OVERDUB_MENDED
  return overdub::run(context, twice, x);
#else
  return overdub::run(context, twice, overdub::tag(x, 1.0));
#endif
}
