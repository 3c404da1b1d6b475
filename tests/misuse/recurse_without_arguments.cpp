// A rule for a function without arguments recurses by recurse(*this, f), which does not include the inner contexts.
// expect: overdub: a rule that goes on by recurse\(\*this, f, x...\)
#include <overdub/overdub.hpp>

constexpr auto two = overdub::fn<"two">([](overdub::scope auto& cx) { return cx.lift(1.0) + 1.0; });
constexpr auto doubled =
    overdub::fn<"doubled">([](overdub::scope auto& cx, auto x) -> decltype(x) { return cx(two) * x; });

struct outer : overdub::context {
#ifdef OVERDUB_MENDED
  auto overdub(overdub::rule_call auto call, decltype(two)) { return call.recurse(); }
#else
  auto overdub(decltype(two) f) { return recurse(*this, f); }
#endif
};
struct inner : overdub::context {};

double run(double x) { return overdub::run(overdub::compose(outer{}, inner{}), doubled, x); }
