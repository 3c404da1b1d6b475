// A program is staged without running, so that there is nothing to cache.
// expect: overdub: memoize caches the results of calls that run, and does not apply to a function that is staged
#include <overdub/contexts/memoize.hpp>
#include <overdub/stage/evaluate.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

auto run([[maybe_unused]] overdub::ir::program const& p, [[maybe_unused]] double x) {
  overdub::contexts::memoize memoize;
#ifdef OVERDUB_MENDED
  return overdub::run(memoize, square, x);
#else
  return overdub::overdub(memoize, p);
#endif
}
