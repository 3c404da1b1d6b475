// A run returns a shared pointer to a value of its context.
// expect: overdub: what this run returns holds values of its context in a type that overdub does not look into
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <memory>

void run() {
  overdub::contexts::count counted;
#ifdef OVERDUB_MENDED
  (void)overdub::run(
      counted, [](auto x) { return std::make_unique<decltype(x)>(x); }, 2.0);
#else
  (void)overdub::run(
      counted, [](auto x) { return std::make_shared<decltype(x)>(x); }, 2.0);
#endif
}
