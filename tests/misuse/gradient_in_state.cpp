// expect: a context with data has a rule, enter or metadata, which may read the data while the program is made
#include <overdub/reverse.hpp>

struct scaled : overdub::context {
  double by = 2;
#ifdef OVERDUB_MENDED
  scaled(double b) : by(b) {}
  double fingerprint() const { return by; }
#endif
  auto overdub(overdub::mul_t, auto x, auto y) { return x * y * by; }
};
inline constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

#ifdef OVERDUB_MENDED
double run(double x) {
  scaled c(2);
#else
double run(double x) {
  scaled c;
#endif
  return overdub::gradient(c, square)(x);
}
