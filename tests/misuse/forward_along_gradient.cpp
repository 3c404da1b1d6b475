// expect: overdub: a gradient, or another transformed function, is a program, and forward_along<N>, N above 1, evaluates none
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

namespace od = overdub;

inline constexpr auto energy =
    od::fn<"energy">([](auto const& xs) { return od::sum(od::map([](auto x) { return x * x; }, xs)); });
inline constexpr auto force =
    od::fn<"force">([](auto const& xs) { return od::sum(od::gradient(energy)(xs)); });

int main() {
#ifdef OVERDUB_MENDED
  return od::forward_gradient<1>(force, od::array<double>{1.0, 2.0})[1] == 2.0 ? 0 : 1;
#else
  return od::forward_gradient(force, od::array<double>{1.0, 2.0})[1] == 2.0 ? 0 : 1;
#endif
}
