// expect: overdub: a gradient, or another transformed function, is a program, and forward_along<N>, N above 1, evaluates none
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/reverse.hpp>
#include <overdub/overdub.hpp>

namespace od = overdub;

inline constexpr auto energy =
    od::fn<"energy">([](auto const& xs) { return od::sum(od::map([](auto x) { return x * x; }, xs)); });
inline constexpr auto force =
    od::fn<"force">([](auto const& xs) { return od::sum(od::contexts::gradient(energy)(xs)); });

int main() {
#ifdef OVERDUB_MENDED
  return od::contexts::forward_gradient<1>(force, od::array<double>{1.0, 2.0})[1] == 2.0 ? 0 : 1;
#else
  return od::contexts::forward_gradient(force, od::array<double>{1.0, 2.0})[1] == 2.0 ? 0 : 1;
#endif
}
