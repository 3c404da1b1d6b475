// Protected calls cannot be updated incrementally, so a context with a hook `failed` is rejected.
// expect: overdub: a context with a hook `failed` is given to incremental
#include <overdub/incremental.hpp>

#include <exception>

struct observing : overdub::context {
  int sines = 0;
#ifdef OVERDUB_MENDED
  void before(overdub::sin_t, double) { ++sines; }
#else
  void failed(overdub::sin_t, std::exception_ptr const&, double) { ++sines; }
#endif
};
inline constexpr auto wave = overdub::fn<"wave">([](auto x) { return sin(x); });

double run() {
  observing h;
  return overdub::incremental(h, wave, 0.5).value();
}
