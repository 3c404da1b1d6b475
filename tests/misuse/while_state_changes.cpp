// A while_ whose state changes its type.
// expect: overdub: the body of this loop returns another type than the state it was given
// expect: "halve"
#include <overdub/overdub.hpp>

constexpr auto halve = overdub::fn<"halve">([](auto n) {
#ifdef OVERDUB_MENDED
  return overdub::while_(
      n, [](auto m) { return m > 10; }, [](auto m) { return m / 2; });
#else
  return overdub::while_(
      n, [](auto m) { return m > 10; }, [](auto m) { return m * 0.5; });
#endif
});

int run(int n) {
  overdub::context context;
  return overdub::run(context, halve, n);
}
