// map over a plain array, with a function that captured a value.
// expect: overdub: map's arrays are plain, but its function returns values of a context that it captured
// expect: "powers"
#include <overdub/overdub.hpp>

constexpr auto powers = overdub::fn<"powers">([](overdub::scope auto& cx, auto x) {
  auto power = [&](auto i) { return pow(x, overdub::convert<double>(i)); };
#ifdef OVERDUB_MENDED
  return overdub::sum(cx(overdub::map, power, overdub::iota(10)));
#else
  (void)cx;
  return overdub::sum(overdub::map(power, overdub::iota(10)));
#endif
});

double run(double x) {
  overdub::context context;
  return overdub::run(context, powers, x);
}
