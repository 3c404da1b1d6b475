// An effect whose result the program uses cannot be removed.
// expect: overdub: slice removes the calls of a native function, but this function returns a result
#include <overdub/contexts/slice.hpp>

constexpr auto read = overdub::leaf<"read">([](double x) { return x + 1; });
constexpr auto print = overdub::leaf<"print">([](double) {});
constexpr auto program = overdub::fn<"program">([](auto x) {
  auto const y = read(x);
  print(y);
  return y;
});

double run(double x) {
#ifdef OVERDUB_MENDED
  overdub::contexts::deferred_effects<decltype(print)> later;
#else
  overdub::contexts::deferred_effects<> later;
#endif
  return overdub::run(overdub::contexts::slice(later), program, x);
}
