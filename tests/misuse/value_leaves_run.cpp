// A run returns a struct template that is not described, and holds values of the run's context.
// expect: overdub: what this run returns holds values of its context in a type that overdub does not look into
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <tuple>

template <class T>
struct both {
  T a, b;
};

void run() {
  overdub::contexts::count counted;
#ifdef OVERDUB_MENDED
  (void)overdub::run(
      counted, [](auto x) { return std::tuple(x, x); }, 2.0);
#else
  (void)overdub::run(
      counted,
      [](auto x) {
        return both<decltype(x)>{x, x};
      },
      2.0);
#endif
}
