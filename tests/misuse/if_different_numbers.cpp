// The branches return numbers of different types.
// expect: overdub: the branches of if_ return different types
// expect: "ramp"
#include <overdub/overdub.hpp>

constexpr auto ramp = overdub::fn<"ramp">([](auto x) {
#ifdef OVERDUB_MENDED
  return overdub::if_(
      x > 0.0, [&] { return x; }, [&] { return 0.0; });
#else
  return overdub::if_(
      x > 0.0, [&] { return x; }, [&] { return 0; });
#endif
});

double run(double x) {
  overdub::context context;
  return overdub::run(context, ramp, x);
}
