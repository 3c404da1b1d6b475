// A derivative at an integer is requested.
// expect: overdub: a derivative is taken at a floating-point number
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

#ifdef OVERDUB_MENDED
double slope() { return overdub::derivative(square, 3.0); }
#else
double slope() { return overdub::derivative(square, 3); }
#endif
