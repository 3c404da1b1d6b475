// A 64-bit integer times a double inside of a user's function.
// expect: overdub: numbers of these types cannot be mixed here without losing some
// expect: mul_t.*long.*double
// expect: "scaled"
#include <overdub/overdub.hpp>

constexpr auto scaled = overdub::fn<"scaled">([](auto n, auto x) {
#ifdef OVERDUB_MENDED
  return overdub::convert<double>(n) * x;
#else
  return n * x;
#endif
});

double run(overdub::i64 n, double x) {
  overdub::context context;
  return overdub::run(context, scaled, n, x);
}
