// inference: the effects of eight schools' courses on test results (Rubin 1981). Each effect was measured with an error; the
// model estimates their common part. The log density is a function of overdub, its gradient is `reverse`'s.
#include <overdub/inference.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace od = overdub;

inline constexpr auto square = [](auto x) { return x * x; };

// q is mu ~ N(0, 5), log(tau), where tau ~ half-Cauchy(0, 5), and for each school eta ~ N(0, 1): its effect is mu + tau eta.
inline constexpr auto log_density =
    od::fn<"log_density">([](auto const& q, auto const& effects, auto const& errors) {
      auto const mu = q[0];
      auto const tau = exp(q[1]);
      auto const school = [&](auto i, auto effect, auto error) {
        auto const eta = q[i + 2];
        return square(eta) + square((effect - mu - tau * eta) / error);
      };
      auto const prior = -0.5 * square(mu / 5.0) - log(1.0 + square(tau / 5.0)) + q[1];
      return prior - 0.5 * od::sum(od::map(school, od::iota(od::size(effects)), effects, errors));
    });

using row = od::array<double>;
auto const slopes = od::compile(od::value_and_gradient<0>(log_density), od::signature<row, row, row>);

struct schools {
  row effects{28, 8, -3, 7, -1, 1, 18, 12}, errors{15, 10, 16, 11, 9, 11, 10, 18};

  std::size_t dimension() const { return 10; }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    auto const [value, by_q] = slopes(row::borrow(q), effects, errors);
    std::ranges::copy(by_q, gradient.begin());
    return value;
  }
  std::vector<std::string> names() const { return {"mu", "tau", "effect.1", "effect.3"}; }
  void report(std::span<double const> q, std::span<double> out) const {
    double const tau = std::exp(q[1]);
    std::ranges::copy(std::vector{q[0], tau, q[0] + tau * q[2], q[0] + tau * q[4]}, out.begin());
  }
};

int main() {
  od::inference::summary const s(od::inference::sample(schools{}, {.chains = 2, .seed = 1}));
  std::cout << s;
  // Numerical integration: the posterior mean of mu is 4.4, that of tau 3.6, that of the first effect 6.2 and that of the third 3.9.
  auto const near = [&](char const* name, double mean) {
    return std::abs(s[name].mean - mean) < 6 * s[name].mcse;
  };
  return near("mu", 4.4) && near("tau", 3.6) && near("effect.1", 6.2) && near("effect.3", 3.9) ? 0 : 1;
}
