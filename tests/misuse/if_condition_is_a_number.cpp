// if_ with a number as its condition.
// expect: overdub: the condition of if_ is no boolean; write overdub::if_\(x != 0
// expect: "inverse"
#include <overdub/overdub.hpp>

constexpr auto inverse = overdub::fn<"inverse">([](auto x) {
#ifdef OVERDUB_MENDED
  return overdub::if_(
      x != 0.0, [&] { return 1.0 / x; }, [&] { return x; });
#else
  return overdub::if_(
      x, [&] { return 1.0 / x; }, [&] { return x; });
#endif
});

double run(double x) {
  overdub::context context;
  return overdub::run(context, inverse, x);
}
