// An incremental function runs parts of its function: hooks would hear of some calls and not of others.
// expect: overdub: a context with hooks is given to incremental or model
#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/incremental.hpp>

struct doubling : overdub::context {
  auto overdub(overdub::sin_t, auto x) { return 2.0 * sin(x); }
};
inline constexpr auto wave = overdub::fn<"wave">([](auto x) { return sin(x); });

double run() {
  overdub::contexts::count counted;
#ifdef OVERDUB_MENDED
  (void)overdub::compile(counted, wave, overdub::signature<double>)(0.5);
  return overdub::contexts::incremental(doubling{}, wave, 0.5).value();
#else
  return overdub::contexts::incremental(counted, wave, 0.5).value();
#endif
}
