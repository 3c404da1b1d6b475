// A rule for a native function.
// expect: overdub: a derivative belongs to a function of its own name; write it around fn<"name">\(body\)
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

constexpr auto native = overdub::leaf<"native">([](double x) { return x * x; });
constexpr auto slope = [](auto, auto x, auto dx) { return 2.0 * x * dx; };
#ifdef OVERDUB_MENDED
constexpr auto f = overdub::derivative_rule(overdub::fn<"f">([](auto x) { return native(x); }), slope);
#else
constexpr auto f = overdub::derivative_rule(native, slope);
#endif

double run(double x) {
#ifdef OVERDUB_MENDED
  return overdub::derivative(f, x);
#else
  return x;
#endif
}
