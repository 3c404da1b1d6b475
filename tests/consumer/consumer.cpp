// A user's first program: it includes headers alone.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

inline constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) { return overdub::sqrt(x * x + y * y); });

int main() {
  overdub::contexts::count count;
  double const length = overdub::run(count, norm, 3.0, 4.0);
  return length == 5 && OVERDUB_VERSION_MAJOR + OVERDUB_VERSION_MINOR + OVERDUB_VERSION_PATCH > 0 ? 0 : 1;
}
