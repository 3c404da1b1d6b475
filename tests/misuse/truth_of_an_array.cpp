// A branch on an array in a context.
// expect: overdub: a branch on a value whose type has no bool
// expect: "first"
#include <overdub/overdub.hpp>

constexpr auto first = overdub::fn<"first">([](auto xs) {
#ifdef OVERDUB_MENDED
  if (overdub::size(xs) != overdub::i64{0}) return xs[0] + 0.0;
#else
  if (xs) return xs[0] + 0.0;
#endif
  return overdub::sum(xs);
});

double run(overdub::array<double> xs) {
  overdub::context context;
  return overdub::run(context, first, xs);
}
