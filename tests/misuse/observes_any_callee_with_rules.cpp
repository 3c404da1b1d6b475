// A context that has a rule and `enter` declares that it only observes.
// expect: overdub: this context declares observes_any_callee, and has a rule, a member `overdub`, which could replace calls; delete the declaration or the rule
// expect: overdub: this context declares observes_any_callee, and has a member `enter`, which could replace the contexts of a body
#include <overdub/ir/program.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/evaluate.hpp>

struct watch : overdub::context {
#ifndef OVERDUB_MENDED
  using observes_any_callee = watch;
#endif
  auto overdub(overdub::sin_t f, auto x) { return f(x); }
  auto enter(overdub::function auto) { return overdub::leave; }
};

double run(overdub::ir::program const& p, double x) {
  return overdub::run(
      watch{}, [&](auto y) { return overdub::evaluate<double>(p, y); }, x);
}
