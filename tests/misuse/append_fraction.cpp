// A floating-point number is appended to an array of integers.
// expect: overdub: append<I>\(x\) takes an element of the argument, and no floating-point number for an integer; convert it
#include <overdub/incremental.hpp>

#include <cstdint>

constexpr auto total = overdub::fn<"total">([](auto x) { return overdub::sum(x); });

std::int64_t run() {
  auto f = overdub::incremental(total, overdub::array<std::int64_t>{1, 2});
#ifdef OVERDUB_MENDED
  f.append<0>(3);
#else
  f.append<0>(3.5);
#endif
  return f.propose();
}
