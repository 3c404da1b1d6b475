// A context that has rules declares that it only observes.
// expect: overdub: a context that declares observes_any_callee only observes, and this one has rules
#include <overdub/ir/program.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/evaluate.hpp>

struct watch : overdub::context {
#ifndef OVERDUB_MENDED
  using observes_any_callee = watch;
#endif
  auto overdub(overdub::sin_t f, auto x) { return f(x); }
};

double run(overdub::ir::program const& p, double x) {
  return overdub::run(
      watch{}, [&](auto y) { return overdub::evaluate<double>(p, y); }, x);
}
