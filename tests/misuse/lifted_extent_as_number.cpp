// An extent is given as a plain number.
// expect: overdub: an extent is an expression of the function's arguments
#include <overdub/lifted.hpp>

double norm(double const* x);

#ifdef OVERDUB_MENDED
constexpr auto lifted_norm = overdub::lifted<&norm>(overdub::extent<0>(overdub::elements<4>));
#else
constexpr auto lifted_norm = overdub::lifted<&norm>(overdub::extent<0>(4));
#endif

double run(double const* x) { return lifted_norm(x); }
