// Custom derivative rules: for native functions, and for derivatives that the formula of the body computes inaccurately.
#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdio>

namespace od = overdub;
namespace contexts = overdub::contexts;

// A native solver: E - e sin E = M, Kepler's equation. Contexts observe the call, and do not enter it.
inline constexpr auto kepler = od::leaf<"kepler">(
    [](double mean, double e) {
      double anomaly = mean;
      for (int i = 0; i < 50; ++i)
        anomaly -= (anomaly - e * std::sin(anomaly) - mean) / (1 - e * std::cos(anomaly));
      return anomaly;
    },
    od::effects::pure);

// log(1 + exp x), whose derivative by the formula of its body is inf / inf for a large x.
inline constexpr auto softplus =
    od::fn<"softplus">([](auto x) { return log1p(exp(-od::abs(x))) + od::max(x, 0.0); });
inline constexpr auto naive = od::fn<"naive">([](auto x) { return log(1.0 + exp(x)); });

struct derivatives : od::extends<contexts::forward> {
  using extends::overdub; // else this class hides forward's own rules

  // By the implicit function theorem: dE (1 - e cos E) = dM + sin E de.
  auto overdub(decltype(kepler) f, auto mean, auto e) {
    auto const anomaly = f(mean.inner, e.inner);
    auto const change = mean.metadata + sin(anomaly) * e.metadata;
    return od::tag(anomaly, change / (1.0 - e.inner * cos(anomaly)));
  }
  // The logistic function. The rule runs outside of its context: it does not differentiate naive.
  auto overdub(decltype(naive), auto x) {
    return od::tag(softplus(x.inner), x.metadata / (1.0 + exp(-x.inner)));
  }
};

inline constexpr auto radius =
    od::fn<"radius">([](auto mean, auto e) { return 1.0 - e * cos(kepler(mean, e)); });

int main() {
  derivatives context;
  auto const r = od::run(context, radius, od::tag(0.8, 1.0), 0.3);
  double const h = 1e-5, difference = (radius(0.8 + h, 0.3) - radius(0.8 - h, 0.3)) / (2 * h);
  std::printf("radius %.9f, its change %.9f, by differences %.9f\n", r.inner, r.metadata, difference);

  auto const plain = od::run(contexts::forward{}, naive, od::tag(800.0, 1.0));
  auto const ruled = od::run(context, naive, od::tag(800.0, 1.0));
  std::printf("log(1 + exp 800): %g with derivative %g\n", plain.inner, plain.metadata);
  std::printf("       by a rule: %g with derivative %g\n", ruled.inner, ruled.metadata);
  return std::abs(r.metadata - difference) < 1e-9 && ruled.inner == 800 && ruled.metadata == 1 ? 0 : 1;
}
