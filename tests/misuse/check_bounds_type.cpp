// Bounds of a type that programs do not have.
// expect: overdub: any_finite<T> and anything<T> are of bool, i64, float, double, and arrays of them
#include <overdub/check.hpp>

constexpr auto twice = overdub::fn<"twice">([](auto x) { return x + x; });

bool is_fine() {
#ifdef OVERDUB_MENDED
  return overdub::check(twice, overdub::any_finite<overdub::i64>()).empty();
#else
  return overdub::check(twice, overdub::any_finite<int>()).empty();
#endif
}
