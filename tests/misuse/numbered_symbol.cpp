// A symbol names all versions of a function.
// expect: overdub: norm#2 is a version of norm
#include <overdub/call/named_functions.hpp>
#include <overdub/overdub.hpp>

struct doubled : overdub::context {
#ifdef OVERDUB_MENDED
  auto overdub(decltype(overdub::symbol<"inner">), auto x) { return 2.0 * x; }
#else
  auto overdub(decltype(overdub::symbol<"inner#2">), auto x) { return 2.0 * x; }
#endif
};

constexpr auto inner = overdub::fn<"inner">([](auto x) { return x * x; });

double run(double x) { return overdub::run(doubled{}, inner, x); }
