// expect: a context with passes or a fingerprint is compiled; include <overdub/compile/compile.hpp>
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
#include <overdub/compile/compile.hpp>
#endif

struct shaped : overdub::context {
  int shape = 0;
  int fingerprint() const { return shape; }
};
inline constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

double run() {
  shaped c;
  return overdub::run(c, square, 3.0);
}
