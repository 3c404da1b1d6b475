// A function compiled in a context, a gradient, and an error of a compiled function that is caught by its type.
#include "layers.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <cmath>

namespace od = overdub;

namespace {
inline constexpr auto shifted_sine = od::fn<"shifted_sine">([](auto x) { return sin(x + 1.0); });
inline constexpr auto second = od::fn<"second">([](auto xs) { return xs[1] * xs[1] + xs[0]; });

bool error_is_caught() {
  auto const f = od::compile(od::compose(), second, od::signature<od::array<double>>);
  try {
    f(od::array<double>{1});
  } catch (od::index_error const&) {
    return true;
  }
  return false;
}
} // namespace

bool compiled_is_right() {
  auto const f =
      od::compile(od::contexts::forward{}, shifted_sine, od::signature<od::tagged<double, double>>);
  auto const [y, slope] = f(od::tag(2.0, 1.0));
  auto const gradient = od::gradient(second)(od::array<double>{1, 3});
  return y == std::sin(3.0) && std::abs(slope - std::cos(3.0)) < 1e-12 && gradient[0] == 1 &&
         gradient[1] == 6 && error_is_caught();
}
