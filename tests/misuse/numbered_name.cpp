// In programs, # and a number distinguish the versions of a function.
// expect: overdub: the name of a function cannot end in # and a number
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
constexpr auto inner = overdub::fn<"inner2">([](auto x) { return 2.0 * x; });
#else
constexpr auto inner = overdub::fn<"inner#2">([](auto x) { return 2.0 * x; });
#endif

double run(double x) { return inner(x); }
