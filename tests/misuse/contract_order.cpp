// A context comes after one that it must precede.
// expect: overdub: these contexts are composed in the wrong order
// expect: rewriter
// expect: counter
#include <overdub/overdub.hpp>

struct counter : overdub::context {
  int calls = 0;
};
struct rewriter : overdub::context {
  using must_precede = overdub::types<counter>;
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
  counter count;
  rewriter rewrite;
#ifdef OVERDUB_MENDED
  return overdub::run(overdub::compose(rewrite, count), twice, x);
#else
  return overdub::run(overdub::compose(count, rewrite), twice, x);
#endif
}
