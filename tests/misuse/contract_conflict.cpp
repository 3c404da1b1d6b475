// Two contexts of which one declares that it conflicts with the other.
// expect: overdub: these contexts conflict and cannot be composed
// expect: exact
// expect: fast
#include <overdub/overdub.hpp>

struct exact : overdub::context {};
struct fast : overdub::context {
  using conflicts_with = overdub::types<exact>;
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
#ifdef OVERDUB_MENDED
  return overdub::run(fast{}, twice, x);
#else
  return overdub::run(overdub::compose(exact{}, fast{}), twice, x);
#endif
}
