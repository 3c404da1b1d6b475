// Programs have integers of 64 bits.
// expect: overdub: a result is bool, overdub::i64, float, double
#include <overdub/execute/interpreter.hpp>

#ifdef OVERDUB_MENDED
overdub::i64 run(overdub::executable const& count) { return count.call<overdub::i64>(1.0); }
#else
int run(overdub::executable const& count) { return count.call<int>(1.0); }
#endif
