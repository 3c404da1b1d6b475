// A loop's state starts as an int and becomes a double.
// expect: overdub: the body of this loop returns another type than the state it was given
// expect: "harmonic"
#include <overdub/overdub.hpp>

constexpr auto harmonic = overdub::fn<"harmonic">([](auto n) {
#ifdef OVERDUB_MENDED
  return overdub::loop(n, 0.0, [](auto i, auto s) { return s + 1.0 / (overdub::convert<double>(i) + 1.0); });
#else
  return overdub::loop(n, 0, [](auto i, auto s) { return s + 1.0 / (overdub::convert<double>(i) + 1.0); });
#endif
});

double run(overdub::i64 n) {
  overdub::context context;
  return overdub::run(context, harmonic, n);
}
