// Rewriting a program requires another header than running a function.
// expect: a context rewrites a program by overdub\(context, program\); include <overdub/stage/evaluate.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
#include <overdub/stage/evaluate.hpp>
#endif

overdub::ir::program run(overdub::ir::program const& p) {
  overdub::contexts::count c;
  return overdub::overdub(c, p);
}
