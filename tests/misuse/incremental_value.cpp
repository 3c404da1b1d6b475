// An incremental function saves numbers, and its argument is a value of a context.
// expect: overdub: incremental is given a value of a context
#include <overdub/incremental.hpp>

struct doubling : overdub::context {
  auto overdub(overdub::sin_t, auto x) { return 2.0 * sin(x); }
};
inline constexpr auto wave = overdub::fn<"wave">([](auto x) { return sin(x); });
inline constexpr auto followed = overdub::fn<"followed">([](auto x) {
#ifdef OVERDUB_MENDED
  auto f = overdub::incremental(doubling{}, wave, overdub::concrete(x));
  f.template set<0>(2.0);
  return x + f.propose();
#else
  (void)overdub::incremental(wave, x);
  return x;
#endif
});

double run() {
  doubling d;
  return overdub::run(d, followed, 0.5);
}
