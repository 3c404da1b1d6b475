// A context declares both that it commutes with another one and that it must precede it.
// expect: overdub: a context declares that it commutes with another one and that it must precede it
// expect: rewriter
#include <overdub/overdub.hpp>

struct counter : overdub::context {
  int calls = 0;
};
struct rewriter : overdub::context {
  using must_precede = overdub::types<counter>;
#ifndef OVERDUB_MENDED
  using commutes_with = overdub::types<counter>;
#endif
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) { return overdub::run(overdub::compose(rewriter{}, counter{}), twice, x); }
