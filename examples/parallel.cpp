// parallel_map: contexts apply in its threads. A context with state is forked for each thread, and joined again.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/control/parallel.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>

namespace od = overdub;
namespace contexts = overdub::contexts;

// The escape time of the orbit of a point: the Mandelbrot set.
inline constexpr auto stays = od::fn<"stays">([](auto re, auto im) {
  auto const far = [](auto z) {
    return std::get<0>(z) * std::get<0>(z) + std::get<1>(z) * std::get<1>(z) < 4.0;
  };
  auto const next = [=](auto z) {
    auto const [x, y, n] = z;
    return std::tuple{x * x - y * y + re, 2.0 * x * y + im, n + 1.0};
  };
  auto const going = [=](auto z) { return far(z) && std::get<2>(z) < 60.0; };
  return std::get<2>(od::while_(std::tuple{re * 0.0, im * 0.0, re * 0.0}, going, next));
});

int main() {
  constexpr od::i64 width = 64, height = 22;
  auto const re = od::map(
      [](auto i) { return -2.1 + 2.9 * od::convert<double>(i % width) / width; }, od::iota(width * height));
  auto const im = od::map(
      [](auto i) { return 1.1 - 2.2 * od::convert<double>(i / width) / (height - 1); },
      od::iota(width * height));

  // The function that parallel_map calls has no captures, so that each thread may have its own
  // context.
  auto const picture = [](auto xs, auto ys) { return od::parallel_map.on(4)(stays, xs, ys); };
  contexts::count parallel, alone;
  auto const n = od::run(parallel, picture, re, im);
  auto const m = od::run(
      alone, [](auto xs, auto ys) { return od::map(stays, xs, ys); }, re, im);

  for (od::i64 i = 0; i < n.size(); ++i) {
    std::putchar(" .:-=+*#%@"[static_cast<int>(n[i]) * 9 / 60]);
    if (i % width == width - 1) std::putchar('\n');
  }
  std::printf("%ld calls on four threads, %ld on one\n", parallel.calls(), alone.calls());
  return n == m && parallel.calls() == alone.calls() && parallel.functions == n.size() ? 0 : 1;
}
