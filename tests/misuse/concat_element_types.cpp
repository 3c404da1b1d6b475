// concat joins arrays of different element types.
// expect: overdub: concat joins arrays of one element type
// expect: "numbered"
#include <overdub/overdub.hpp>

constexpr auto numbered = overdub::fn<"numbered">([](auto xs) {
#ifdef OVERDUB_MENDED
  return overdub::concat(xs, overdub::map(overdub::convert<double>, overdub::iota(3)));
#else
  return overdub::concat(xs, overdub::iota(3));
#endif
});

void run(overdub::array<double> xs) {
  overdub::context context;
  overdub::run(context, numbered, xs);
}
