// fast_math: elementary functions by short polynomials, and their derivatives, too. The program does
// not change.
#include <overdub/contexts/fast_math.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace od = overdub;
namespace contexts = overdub::contexts;

inline constexpr auto wave = od::fn<"wave">([](auto x) { return exp(-0.1 * x) * sin(x) + tanh(x - 3.0); });

int main() {
  contexts::fast_math fast;
  contexts::forward forward;
  double worst = 0, worst_slope = 0;

  std::printf("     x   precise         fast            slope           fast slope\n");
  for (int i = 0; i <= 1000; ++i) {
    double const x = 0.01 * i;
    double const precise = wave(x);
    double const y = od::run(fast, wave, x);
    double const slope = od::run(forward, wave, od::tag(x, 1.0)).metadata;
    // forward differentiates the polynomials by which fast_math replaces exp, sin and tanh.
    double const fast_slope = od::run(od::compose(fast, forward), wave, od::tag(x, 1.0)).metadata;
    worst = std::max(worst, std::abs(y - precise));
    worst_slope = std::max(worst_slope, std::abs(fast_slope - slope));
    if (i % 200 == 0) std::printf("%6.2f  % .12f % .12f % .12f % .12f\n", x, precise, y, slope, fast_slope);
  }
  std::printf("largest errors: %.1e of the value, %.1e of the slope\n", worst, worst_slope);
  return worst < 2e-10 && worst_slope < 1e-8 ? 0 : 1;
}
