// Programs have integers of 64 bits.
// expect: overdub: staged programs compute with integers of 64 bits
#include <overdub/stage/stage.hpp>

constexpr auto twice = overdub::fn<"twice">([](auto n) { return n + n; });

#ifdef OVERDUB_MENDED
auto program() { return overdub::stage(twice, overdub::signature<overdub::i64>); }
#else
auto program() { return overdub::stage(twice, overdub::signature<int>); }
#endif
