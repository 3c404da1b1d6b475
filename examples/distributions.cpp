// A chain that samples from a posterior distribution: Langevin steps along the gradient of the log density, which reverse mode
// computes, on the unconstrained space. For counts with a gamma prior the posterior is known: a gamma distribution, too.
#include <overdub/distributions.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace od = overdub;
namespace ds = overdub::distributions;

constexpr auto prior = ds::gamma(2.0, 0.5);
constexpr auto rates = support(prior); // positive numbers, the exponentials of real ones

inline constexpr auto log_posterior = od::fn<"log_posterior">([](auto y, auto counts) {
  auto const rate = rates.constrain(y);
  auto const each = od::map([&](auto k) { return log_density(ds::poisson(rate), k); }, counts);
  return log_density(prior, rate) + rates.log_abs_det_jacobian(y) + od::sum(each);
});

// The mean and the standard deviation of a step from y.
constexpr double step_size = 0.12;
auto step_from(double y, double slope) {
  return ds::normal(y + 0.5 * step_size * step_size * slope, step_size);
}

int main() {
  od::random_key const root(1);
  auto const counts =
      od::map([&](auto i) { return draw(ds::poisson(3), root.at("data").at(i)); }, od::iota(20));
  auto const slope = od::compile(od::gradient<0>(log_posterior), od::signature<double, od::array<od::i64>>);

  double y = 0, total = 0, squares = 0;
  int const steps = 20000;
  for (int n = 0; n < steps; ++n) {
    auto const key = root.at("chain").transition(static_cast<std::uint64_t>(n));
    auto const there = step_from(y, slope(y, counts));
    double const next = draw(there, key.at("step"));
    auto const back = step_from(next, slope(next, counts));
    double const ratio = log_posterior(next, counts) - log_posterior(y, counts) + log_density(back, y) -
                         log_density(there, next);
    if (std::log(draw(ds::uniform(0, 1), key.at("accept"))) < ratio) y = next;
    double const rate = rates.constrain(y);
    total += rate, squares += rate * rate;
  }
  double const mean = total / steps, sd = std::sqrt(squares / steps - mean * mean);
  double const shape = 2.0 + static_cast<double>(od::sum(counts)), inverse_scale = 0.5 + 20;
  double const exact_mean = shape / inverse_scale, exact_sd = std::sqrt(shape) / inverse_scale;
  std::printf("sampled: %.2f +- %.2f, exact: %.2f +- %.2f\n", mean, sd, exact_mean, exact_sd);
  return std::abs(mean - exact_mean) < 0.02 && std::abs(sd - exact_sd) < 0.02 ? 0 : 1;
}
