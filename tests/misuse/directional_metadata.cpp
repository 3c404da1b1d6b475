// A function in a context with metadata returns tagged, and `forward` tags numbers itself.
// expect: overdub: a function in contexts that keep metadata gives tagged
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

struct counting : overdub::context {
  template <class T>
  using metadata = overdub::i64;
  auto constant(auto) { return overdub::i64{0}; }
  auto overdub(overdub::elementwise auto f, auto x) { return overdub::tag(f(x.inner), x.metadata + 1); }
};
struct doubling : overdub::context {
  auto overdub(overdub::sin_t, auto x) { return 2.0 * sin(x); }
};
inline constexpr auto wave = overdub::fn<"wave">([](auto x) { return sin(x); });

double run() {
#ifdef OVERDUB_MENDED
  return overdub::directional_derivative(doubling{}, wave)(0.5, 1.0);
#else
  return overdub::directional_derivative(counting{}, wave)(0.5, 1.0);
#endif
}
