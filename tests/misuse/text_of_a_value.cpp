// A value is an argument of overloads for several integers.
// expect: call of overloaded .*to_string.* is ambiguous|call to 'to_string' is ambiguous
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <string>

constexpr auto text_size = overdub::fn<"text_size">([](auto n) {
#ifdef OVERDUB_MENDED
  return n + static_cast<int>(std::to_string(overdub::concrete(n)).size());
#else
  return n + static_cast<int>(std::to_string(n).size());
#endif
});

int run(int n) {
  overdub::contexts::count count;
  return overdub::run(count, text_size, n);
}
