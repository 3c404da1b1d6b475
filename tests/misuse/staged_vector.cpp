// The type of a vector does not determine the number of parameters.
// expect: overdub: the type of an argument does not say how many values it holds
#include <overdub/stage/stage.hpp>

#include <vector>

constexpr auto first = overdub::fn<"first">([](auto const& xs) { return xs[0]; });

#ifdef OVERDUB_MENDED
auto program() { return overdub::stage(first, overdub::signature<overdub::array<double>>); }
#else
auto program() { return overdub::stage(first, overdub::signature<std::vector<double>>); }
#endif
