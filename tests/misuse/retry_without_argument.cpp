// A call without arguments does not tell in which contexts it is made.
// expect: overdub: retry sees by the arguments of a call where it is made, and this one has none
#include <overdub/contexts/retry.hpp>

constexpr auto fetch = overdub::leaf<"fetch">([](auto... place) { return (1.0 + ... + place); });
constexpr auto program = overdub::fn<"program">([](overdub::scope auto& cx, auto x) {
#ifdef OVERDUB_MENDED
  return cx(fetch, x);
#else
  return cx(fetch) + x;
#endif
});

double run(double x) {
  auto retry = overdub::contexts::retry(overdub::contexts::times<3>, fetch);
  return overdub::run(retry, program, x);
}
