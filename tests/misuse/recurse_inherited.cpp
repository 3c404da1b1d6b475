// An inherited rule recurses by recurse(*this, f, x...), whose context is the base class alone.
// expect: overdub: a rule that goes on by recurse\(\*this, f, x...\)
#include <overdub/overdub.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

struct base : overdub::context {
#ifdef OVERDUB_MENDED
  auto overdub(overdub::rule_call auto call, decltype(square), auto x) { return call.recurse(x) + 1.0; }
#else
  auto overdub(decltype(square) f, auto x) { return recurse(*this, f, x) + 1.0; }
#endif
};
struct heir : base {
  int calls = 0;
  void before(overdub::callee auto, auto const&...) { ++calls; }
};

double run(double x) {
  heir context;
  return overdub::run(context, square, x);
}
