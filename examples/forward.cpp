// forward: derivatives by one run of the program. In one direction or several, by gradient, and nested.
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdio>

namespace od = overdub;
namespace contexts = overdub::contexts;

// A damped spring: the position at time t, for a damping c.
inline constexpr auto position =
    od::fn<"position">([](auto t, auto c) { return exp(-c * t) * cos(2.0 * t); });

inline constexpr auto rosenbrock = od::fn<"rosenbrock">([](auto xs) {
  auto const term = [&](auto i) {
    auto const x = xs[i], next = xs[i + 1];
    auto const rise = next - x * x;
    return 100.0 * rise * rise + (1.0 - x) * (1.0 - x);
  };
  return od::sum(od::map(term, od::iota(od::size(xs) - 1)));
});

int main() {
  double const t = 0.7, c = 0.3;

  // One run: the value, and its derivative along the tagged arguments. Arguments without tags are constants.
  auto const velocity = od::run(contexts::forward{}, position, od::tag(t, 1.0), c);
  std::printf("position %.6f, velocity %.6f\n", velocity.inner, velocity.metadata);

  // In two directions together.
  using direction = contexts::tangents<double, 2>;
  contexts::forward_along<2> both;
  auto const g = od::run(both, position, od::tag(t, direction{1, 0}), od::tag(c, direction{0, 1}));
  std::printf("d/dt %.6f, d/dc %.6f\n", g.metadata[0], g.metadata[1]);

  // The derivative of a derivative: runs are nested, and their perturbations are separate.
  auto const speed = [&](auto s) { return od::derivative([&](auto u) { return position(u, c); }, s); };
  double const acceleration = od::derivative(speed, t);
  std::printf("acceleration %.6f\n", acceleration);

  auto const slope = od::forward_gradient(rosenbrock, od::array<double>{0.5, 0.5, 0.5});
  std::printf("gradient of rosenbrock at (0.5, 0.5, 0.5): %g %g %g\n", slope[0], slope[1], slope[2]);

  // The equation of the spring: x'' + 2c x' + (c^2 + 4) x = 0.
  double const residual = acceleration + 2 * c * velocity.metadata + (c * c + 4) * velocity.inner;
  bool const right = std::abs(residual) < 1e-14 && g.metadata[0] == velocity.metadata &&
                     std::abs(g.metadata[1] + t * velocity.inner) < 1e-15 &&
                     slope == od::array<double>{-51.0, -1.0, 50.0};
  return right ? 0 : 1;
}
