// derivative_rule: functions with derivative rules, for forward and reverse mode, and a test of the rules.
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>
#include <overdub/test_derivative.hpp>

#include <cmath>
#include <cstdio>

namespace od = overdub;

// A native solver: E - e sin E = M, Kepler's equation. No context enters it.
inline constexpr auto solve = od::leaf<"solve">(
    [](double mean, double e) {
      double anomaly = mean;
      for (int i = 0; i < 50; ++i)
        anomaly -= (anomaly - e * std::sin(anomaly) - mean) / (1 - e * std::cos(anomaly));
      return anomaly;
    },
    od::effects::pure);

// By the implicit function theorem: dE (1 - e cos E) = dM + sin E de. One rule serves both modes.
inline constexpr auto kepler = od::derivative_rule(
    od::fn<"kepler">([](auto mean, auto e) { return solve(mean, e); }),
    [](auto anomaly, auto, auto e, auto dmean, auto de) {
      return (dmean + sin(anomaly) * de) / (1.0 - e * cos(anomaly));
    });
inline constexpr auto radius =
    od::fn<"radius">([](auto mean, auto e) { return 1.0 - e * cos(kepler(mean, e)); });

// A gradient that the backward pass clips.
inline constexpr auto clipped =
    od::cotangent_rule(od::fn<"clipped">([](auto x) { return x + 0.0; }), [](auto, auto, auto c) {
      return od::clamp(c, -1.0, 1.0);
    });
inline constexpr auto steep = od::fn<"steep">([](auto x) { return 100.0 * clipped(x); });

// The weight is computed from x, and treated as a constant.
inline constexpr auto weight = od::stop_gradient(od::fn<"weight">([](auto x) { return 1.0 / x; }));
inline constexpr auto weighted = od::fn<"weighted">([](auto x) { return weight(x) * x * x; });

int main() {
  auto const forwards = od::directional_derivative(radius)(0.8, 0.3, 1.0, 0.0);
  auto const [by_mean, by_e] = od::gradient(radius)(0.8, 0.3);
  std::printf("radius: forwards %.6f, backwards %.6f and %.6f\n", forwards, by_mean, by_e);
  std::printf("steep: %g, clipped %g\n", od::derivative(steep, 2.0), od::gradient(steep)(2.0));
  std::printf("weighted: %g\n", od::gradient(weighted)(4.0));

  auto const report = od::test_derivative(radius, 0.8, 0.3);
  std::printf("the rule of kepler: %s", report.text().c_str());
  bool const same = std::abs(forwards - by_mean) < 1e-12 && od::gradient(weighted)(4.0) == 2.0;
  return same && report && od::gradient(steep)(2.0) == 1.0 ? 0 : 1;
}
