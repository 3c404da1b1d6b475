// A run returns a std::function that returns a value of its context.
// expect: overdub: what this run returns is a closure that takes or returns values of its context
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <functional>

void run() {
  overdub::contexts::count counted;
#ifdef OVERDUB_MENDED
  (void)overdub::run(
      counted, [](auto x) { return x * x; }, 2.0);
#else
  (void)overdub::run(
      counted, [](auto x) { return std::function([x] { return x * x; }); }, 2.0);
#endif
}
