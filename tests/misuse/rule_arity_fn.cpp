// A rule that names a user's function takes another number of arguments than the function.
// expect: overdub: the context has a rule that names this function, but with another number of arguments
// expect: "norm"
#include <overdub/overdub.hpp>

constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) { return sqrt(x * x + y * y); });

struct shortcut : overdub::context {
#ifdef OVERDUB_MENDED
  auto overdub(decltype(norm), auto x, auto y) { return hypot(x, y); }
#else
  auto overdub(decltype(norm), auto x) { return x; }
#endif
};

double run(double x) {
  shortcut context;
  return overdub::run(context, norm, x, 4.0);
}
