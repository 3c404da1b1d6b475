// forward observes a native function that takes and returns trees: their derivatives would be lost.
// expect: overdub: forward cannot differentiate this native function; extend the context with a rule for it
// expect: "swap"
#include <overdub/contexts/forward.hpp>

#include <tuple>

constexpr auto swap = overdub::leaf<"swap">(
    [](std::tuple<double, double> p) { return std::tuple(std::get<1>(p), std::get<0>(p)); });
constexpr auto ratio = overdub::fn<"ratio">([](auto x) {
#ifdef OVERDUB_MENDED
  auto const [a, b] = std::tuple(x, x * x);
#else
  auto const [a, b] = swap(std::tuple(x * x, x));
#endif
  return a / b;
});

double run(double x) {
  overdub::contexts::forward context;
  return overdub::run(context, ratio, overdub::tag(x, 1.0)).metadata;
}
