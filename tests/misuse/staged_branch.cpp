// A C++ branch on a value of a staged program.
// expect: overdub: a branch on a value of a program that is being staged, which is not known yet; use overdub::if_
#include <overdub/stage/stage.hpp>

constexpr auto positive = overdub::fn<"positive">([](auto x) {
#ifdef OVERDUB_MENDED
  return overdub::if_(
      x < 0.0, [&] { return -x; }, [&] { return x; });
#else
  if (x < 0.0) return -x;
  return x;
#endif
});

auto program() { return overdub::stage(positive, overdub::signature<double>); }
