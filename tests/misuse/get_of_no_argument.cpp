// Arguments are numbered from 0.
// expect: overdub: the function has no argument of this number; the first one is 0
#include <overdub/incremental.hpp>

constexpr auto scaled = overdub::fn<"scaled">(
    [](auto x, auto by) { return overdub::sum(overdub::map([&](auto e) { return e * by; }, x)); });

double run() {
  auto const f = overdub::incremental(scaled, overdub::array<double>{1.0, 2.0}, 0.5);
#ifdef OVERDUB_MENDED
  return f.get<1>();
#else
  return f.get<2>();
#endif
}
