// An extent is given for an argument that is no pointer.
// expect: argument I is no pointer, or has two extents
#include <overdub/lifted.hpp>

double norm(double const* x, long n);

#ifdef OVERDUB_MENDED
constexpr auto lifted_norm = overdub::lifted<&norm>(overdub::extent<0>(overdub::arg<1>));
#else
constexpr auto lifted_norm = overdub::lifted<&norm>(overdub::extent<1>(overdub::arg<1>));
#endif

double run(double const* x, long n) { return lifted_norm(x, n); }
