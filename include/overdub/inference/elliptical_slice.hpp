// elliptical_slice: elliptical slice sampling, for a normal prior and any likelihood. It needs no gradient and no step size.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/inference/streams.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

namespace overdub::inference {

/// The statistics of a transition of `elliptical_slice`.
struct slice_statistics {
  double log_likelihood = 0; ///< at the draw
  int evaluations = 0;       ///< of the log likelihood, including that at the initial point
};

/// One transition of x, which leaves prior times likelihood invariant, for a prior N(mean, Σ) of any Σ (Murray, Adams and MacKay 2010,
/// "Elliptical slice sampling"): an angle on the ellipse through x and a draw of the prior is drawn from a bracket that shrinks towards x,
/// until the likelihood is in the slice. `prior_draw(out, generator)` writes a draw of N(mean, Σ). `log_likelihood(x)` returns a number; a
/// point where it is NaN is not in the slice. Throws inference_error where the log likelihood is not finite at the initial point, and where
/// two evaluations at one point differ. A proposal is O(dimension), and an evaluation.
template <class P, std::invocable<std::span<double const>> L, bit_generator G>
requires std::invocable<P&, std::span<double>, G&> slice_statistics elliptical_slice(
    std::span<double> x, std::span<double const> mean, P&& prior_draw, L&& log_likelihood, G& generator) {
  if (mean.size() != x.size())
    throw inference_error(
        message("overdub: a mean of %zu numbers for a point of %zu", mean.size(), x.size()));
  std::vector<double> const from(x.begin(), x.end());
  std::vector<double> other(x.size());
  prior_draw(std::span<double>(other), generator);
  double const before = log_likelihood(std::span<double const>(from));
  if (!overdub::is_finite(before))
    throw inference_error(message(
        "overdub: the log likelihood is %g where the slice begins: begin where it is finite", before));
  double const height = before + std::log1p(-drawing::uniform(generator));

  double angle = 2 * std::numbers::pi * drawing::uniform(generator);
  double low = angle - 2 * std::numbers::pi, high = angle;
  for (int evaluations = 2;; ++evaluations) {
    double const along = std::cos(angle), across = std::sin(angle);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = mean[i] + along * (from[i] - mean[i]) + across * (other[i] - mean[i]);
    double here = 0;
    try {
      here = log_likelihood(std::span<double const>(x));
    } catch (...) {
      std::ranges::copy(from, x.begin());
      throw;
    }
    if (here >= height) return {here, evaluations};
    if (high - low < 1e-15) { // the ellipse's point is x, which is in the slice
      std::ranges::copy(from, x.begin());
      throw inference_error(
          message("overdub: the log likelihood was %g, and is %g at the same point", before, here));
    }
    (angle < 0 ? low : high) = angle;
    angle = low + (high - low) * drawing::uniform(generator);
  }
}

} // namespace overdub::inference
