// An operation on numbers is given an array.
// expect: overdub: this operation takes numbers, and is given an array; write overdub::map
// expect: "energy"
#include <overdub/overdub.hpp>

constexpr auto energy = overdub::fn<"energy">([](auto xs) {
#ifdef OVERDUB_MENDED
  return overdub::sum(overdub::map(overdub::mul, xs, xs));
#else
  return overdub::sum(xs * xs);
#endif
});

double run(overdub::array<double> xs) {
  overdub::context context;
  return overdub::run(context, energy, xs);
}
