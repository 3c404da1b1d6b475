// Compiling a function requires another header than running it.
// expect: overdub: compile\(contexts, f, signature\) is in another header; include <overdub/compile/compile.hpp>
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
#include <overdub/compile/compile.hpp>
#endif

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

double run() { return overdub::compile(overdub::compose(), square, overdub::signature<double>)(3.0); }
