// A variable that starts as a plain integer takes the remainder by a value.
// expect first: overdub: a plain number is the left side of %=, and a value of a context the right one
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <type_traits>

constexpr auto last_digit = overdub::fn<"last_digit">([](auto n, auto base) {
#ifdef OVERDUB_MENDED
  auto digit = n;
#else
  long digit = 1234;
#endif
  digit %= base;
  return digit + n;
});

long run(long n) {
  overdub::contexts::count count;
  return overdub::run(count, last_digit, n, 10L);
}
