// A staged function calls concat and size for numbers.
// expect: overdub: an array is needed here
// expect: "joined"
#include <overdub/stage/stage.hpp>

constexpr auto joined = overdub::fn<"joined">([](auto xs) { return overdub::size(overdub::concat(xs, xs)); });

#ifdef OVERDUB_MENDED
auto program() { return overdub::stage(joined, overdub::signature<overdub::array<double>>); }
#else
auto program() { return overdub::stage(joined, overdub::signature<double>); }
#endif
