// A run returns values of its context in a template of a type and a number.
// expect: overdub: what this run returns holds values of its context in a type that overdub does not look into
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

template <class V, unsigned N>
struct small {
  V x[N];
};

void run() {
  overdub::contexts::count counted;
#ifdef OVERDUB_MENDED
  (void)overdub::run(
      counted, [](auto x) { return x; }, 2.0);
#else
  (void)overdub::run(
      counted,
      [](auto x) {
        return small<decltype(x), 2>{{x, x}};
      },
      2.0);
#endif
}
