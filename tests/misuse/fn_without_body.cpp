// A function without a body.
// expect: overdub: fn<"name"> takes the function's body
// expect: norm
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) { return sqrt(x * x + y * y); });
#else
constexpr auto norm = overdub::fn<"norm">();
#endif

double run(double x) { return norm(x, 1.0); }
