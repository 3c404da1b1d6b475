// A function that is staged reads an element of a number.
// expect: overdub: an array is needed here
// expect: "first"
#include <overdub/stage/stage.hpp>

constexpr auto first = overdub::fn<"first">([](auto xs, auto i) { return xs[i]; });

#ifdef OVERDUB_MENDED
auto program() { return overdub::stage(first, overdub::signature<overdub::array<double>, overdub::i64>); }
#else
auto program() { return overdub::stage(first, overdub::signature<double, overdub::i64>); }
#endif
