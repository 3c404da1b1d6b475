// append is called for an argument that is a number.
// expect: overdub: append<I>\(x\) is for arguments that are arrays; set other arguments by set<I>\(x\)
#include <overdub/incremental.hpp>

constexpr auto scaled = overdub::fn<"scaled">(
    [](auto x, auto by) { return overdub::sum(overdub::map([&](auto e) { return e * by; }, x)); });

double run() {
  auto f = overdub::incremental(scaled, overdub::array<double>{1.0, 2.0}, 0.5);
#ifdef OVERDUB_MENDED
  f.append<0>(3.0);
#else
  f.append<1>(3.0);
#endif
  return f.propose();
}
