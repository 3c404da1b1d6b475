// Integers are i64.
// expect: overdub: get<T>\(address\) gives bool, i64, float, double, and arrays of them
#include <overdub/models/model.hpp>

overdub::i64 run(overdub::models::trace const& t) {
#ifdef OVERDUB_MENDED
  return t.get<overdub::i64>("count[1]");
#else
  return t.get<int>("count[1]");
#endif
}
