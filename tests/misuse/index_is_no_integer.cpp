// An array is indexed by a floating-point number.
// expect: overdub: an index or a count must be an integer
// expect: "middle"
#include <overdub/overdub.hpp>

constexpr auto middle = overdub::fn<"middle">([](auto xs) {
  auto half = overdub::convert<double>(overdub::size(xs)) / 2.0;
#ifdef OVERDUB_MENDED
  return xs[overdub::convert<overdub::i64>(half)];
#else
  return xs[half];
#endif
});

double run(overdub::array<double> xs) {
  overdub::context context;
  return overdub::run(context, middle, xs);
}
