// A staged function cannot be retried: programs catch no exceptions.
// expect: overdub: a program catches no exceptions: retry repeats a call in one only if
#include <overdub/compile/compile.hpp>
#include <overdub/contexts/retry.hpp>

inline constexpr auto fetch = overdub::leaf<"fetch">([](double x) { return x; });
inline constexpr auto load = overdub::fn<"load">([](auto x) { return fetch(x) + 1.0; });

double run(double x) {
#ifdef OVERDUB_MENDED
  auto context = overdub::contexts::retry(overdub::contexts::times<3>, fetch);
#else
  auto context = overdub::contexts::retry(overdub::contexts::times<3>, load);
#endif
  return overdub::compile(context, load, overdub::signature<double>)(x);
}
