// profile: the time of each function. Here: planets around a star, by two methods. The table has the time of each function, and
// the folded stacks the time of each call path, for tools that draw flame graphs.
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/profile/allocations.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <tuple>

namespace od = overdub;
namespace contexts = overdub::contexts;

inline constexpr auto pull = od::fn<"pull">([](auto x, auto y) {
  auto const r2 = x * x + y * y;
  return -1.0 / (r2 * sqrt(r2));
});
inline constexpr auto euler = od::fn<"euler">([](auto x, auto y, auto u, auto v, auto h) {
  auto const a = pull(x, y);
  return std::tuple{x + h * u, y + h * v, u + h * a * x, v + h * a * y};
});
inline constexpr auto midpoint = od::fn<"midpoint">([](auto x, auto y, auto u, auto v, auto h) {
  auto const [mx, my, mu, mv] = euler(x, y, u, v, 0.5 * h);
  auto const a = pull(mx, my);
  return std::tuple{x + h * mu, y + h * mv, u + h * a * mx, v + h * a * my};
});
// The distance after a time, by steps of a method.
inline constexpr auto orbit = od::fn<"orbit">([](od::scope auto& cx, auto method, auto steps, auto h) {
  auto const start = cx.lift(std::tuple{1.0, 0.0, 0.0, 1.0});
  auto const [x, y, u, v] = od::loop(
      steps, start, [&](auto, auto s) { return std::apply([&](auto... z) { return method(z..., h); }, s); });
  return sqrt(x * x + y * y);
});
inline constexpr auto both = od::fn<"both">([](auto steps, auto h) {
  auto const coarse = orbit(euler, steps, h);
  return coarse - orbit(midpoint, steps, h);
});

int main() {
  contexts::profile p(contexts::allocations_of_thread);
  double const difference = od::run(p, both, od::i64{2000}, 0.005);
  std::printf("the methods differ by %.4f\n\n", difference);
  std::cout << p << '\n';
  p.write_folded(std::cout);

  bool right = difference == both(od::i64{2000}, 0.005) && p.paths().size() == 8;
  for (auto const& f : p.functions()) {
    if (f.name == "pull") right = right && f.calls == 2000 + 4000;
    if (f.name == "both") right = right && f.calls == 1 && f.total == f.each.largest();
    right = right && f.self <= f.total && f.allocations == 0;
  }
  return right ? 0 : 1;
}
