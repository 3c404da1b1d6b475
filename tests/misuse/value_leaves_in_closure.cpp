// A run returns a closure with a captured value of its context, whose result is one, too.
// expect: overdub: what this run returns is a closure that takes or returns values of its context
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <tuple>

void run() {
  overdub::contexts::count counted;
#ifdef OVERDUB_MENDED
  (void)overdub::run(
      counted, [](auto x) { return std::tuple(1, x * x); }, 2.0);
#else
  (void)overdub::run(
      counted, [](auto x) { return std::tuple(1, [x] { return x * x; }); }, 2.0);
#endif
}
