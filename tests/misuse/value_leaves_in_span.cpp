// A run returns a view of values of its context.
// expect: overdub: what this run returns holds values of its context in a type that overdub does not look into
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <span>

void run() {
  overdub::contexts::count counted;
#ifdef OVERDUB_MENDED
  (void)overdub::run(
      counted, [](auto x) { return x; }, 2.0);
#else
  (void)overdub::run(
      counted, [](auto const& x) { return std::span<std::remove_cvref_t<decltype(x)> const>(&x, 1); }, 2.0);
#endif
}
