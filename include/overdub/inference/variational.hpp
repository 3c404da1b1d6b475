// Mean-field variational inference with normal distributions. It needs the headers of random.hpp.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/core/library.hpp>
#include <overdub/inference/streams.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

namespace overdub::inference {

/// Settings of `approximate`.
struct variational_settings {
  std::size_t iterations = 20000;     ///< the maximum
  std::size_t gradient_draws = 10;    ///< of the approximation, in each iteration
  std::size_t evaluation_draws = 100; ///< for the ELBO
  std::size_t check_every = 100;      ///< iterations between two estimates of the ELBO
  /// Converged when the median of the last ten relative changes of the ELBO is at most this; changes are absolute for an ELBO below 1.
  double tolerance = 0.0001;
  double step = 0.1;                ///< of the first iterations, in standard deviations of the approximation
  std::vector<double> initial = {}; ///< initial means; empty: 0
};

/// A mean-field approximation: independent normal distributions of the coordinates of a target.
class mean_field {
public:
  /// Throws inference_error unless there is a deviation for each mean, all are finite, and deviations are positive.
  mean_field(std::vector<double> means, std::vector<double> sds);

  std::vector<double> const& means() const { return means_; }
  std::vector<double> const& sds() const { return sds_; }
  /// A draw.
  std::vector<double> draw(random_key const& key) const;
  /// The normalised log density at a point.
  double log_density(std::span<double const> q) const;

private:
  std::vector<double> means_, sds_;
};

/// The result of `approximate`.
struct variational_fit : mean_field {
  std::vector<double> elbo;   ///< the initial estimate, and one after each `check_every` iterations
  std::size_t iterations = 0; ///< performed
  bool converged = false;
  std::size_t skipped = 0; ///< draws whose log density or gradient was not finite, of all iterations
};

namespace approximating {

// Stochastic gradient ascent of the ELBO. The vectors have the means, and then the logarithms of the standard deviations.
template <target T>
class ascent {
public:
  ascent(T density, variational_settings const& settings, random_key const& key)
      : density_(std::move(density)), settings_(settings), key_(key), n_(density_.dimension()),
        current_(2 * n_), average_(2 * n_), elbo_gradient_(2 * n_), first_(2 * n_), second_(2 * n_),
        noise_(n_), position_(n_), gradient_(n_) {
    check_count("iterations", settings.iterations);
    check_count("gradient_draws", settings.gradient_draws);
    check_count("evaluation_draws", settings.evaluation_draws);
    check_count("check_every", settings.check_every);
    if (overdub::is_nan(settings.tolerance) || !(settings.tolerance >= 0))
      throw inference_error(message("overdub: tolerance = %g: it is not negative", settings.tolerance));
    if (settings.gradient_draws == 0 || settings.evaluation_draws == 0 || settings.check_every == 0)
      throw inference_error(message("overdub: an approximation by no draws, or one that is never checked"));
    if (!(settings.step > 0) || !overdub::is_finite(settings.step))
      throw inference_error(message("overdub: a step size of %g: it is positive and finite", settings.step));
    if (!settings.initial.empty() && settings.initial.size() != n_)
      throw inference_error(message(
          "overdub: an initial point of %zu numbers for a target of dimension %zu", settings.initial.size(),
          n_));
    for (double const x : settings.initial)
      if (!overdub::is_finite(x))
        throw inference_error(
            message("overdub: initial: an approximation cannot begin at a coordinate of %g", x));
    std::ranges::copy(settings.initial, current_.begin());
    average_ = current_;
  }

  variational_fit run() {
    std::vector<double> elbos = {elbo()};
    std::size_t t = 0;
    bool converged = false;
    while (t < settings_.iterations && !converged) {
      adam_step(++t);
      if (t % settings_.check_every != 0) continue;
      elbos.push_back(elbo());
      converged = has_converged(elbos);
    }
    if (t % settings_.check_every != 0) elbos.push_back(elbo());
    if (!overdub::is_finite(elbos.back()))
      throw inference_error(message(
          "overdub: the evidence lower bound is %g: the log density is not finite at draws of its "
          "approximation, and a target is finite almost everywhere",
          elbos.back()));
    auto const middle = average_.begin() + static_cast<std::ptrdiff_t>(n_);
    std::vector<double> sds(middle, average_.end());
    for (double& s : sds) s = std::exp(s);
    return {{{average_.begin(), middle}, std::move(sds)}, std::move(elbos), t, converged, skipped_};
  }

private:
  // The log density at a draw of the approximation `of`.
  double evaluate(std::vector<double> const& of, random_generator& generator) {
    for (std::size_t i = 0; i < n_; ++i) {
      noise_[i] = drawing::normal(generator);
      position_[i] = of[i] + std::exp(of[n_ + i]) * noise_[i];
    }
    return density_(std::as_const(position_), gradient_);
  }

  // Estimates the ELBO of the averaged iterate. Common random numbers: differences between estimates have no sampling noise of their own,
  // and the estimate is exact if the approximation is the target.
  double elbo() {
    random_generator generator(key_.at("elbo"));
    double sum = 0;
    for (std::size_t k = 0; k < settings_.evaluation_draws; ++k) {
      sum += evaluate(average_, generator);
      for (std::size_t i = 0; i < n_; ++i)
        sum += 0.5 * (noise_[i] * noise_[i] + std::log(2 * std::numbers::pi)) + average_[n_ + i];
    }
    return sum / static_cast<double>(settings_.evaluation_draws);
  }
  bool has_converged(std::vector<double> const& elbos) const {
    constexpr std::size_t changes = 10;
    if (elbos.size() <= changes) return false;
    std::vector<double> relative;
    for (std::size_t i = elbos.size() - changes; i < elbos.size(); ++i)
      relative.push_back(std::abs(elbos[i] - elbos[i - 1]) / std::max(1.0, std::abs(elbos[i])));
    std::ranges::sort(
        relative, [](double a, double b) { return a < b || (overdub::is_nan(b) && !overdub::is_nan(a)); });
    return relative[changes / 2] <= settings_.tolerance;
  }

  // The reparameterisation gradient of the ELBO by draws m + s e: by m, in units of s, the mean of s (g + e / s), and by log s that of
  // e s (g + e / s). The expectation of e / s is the entropy's gradient; its noise cancels that of g if the approximation is the target
  // (Roeder, Wu and Duvenaud 2017, "Sticking the landing").
  void estimate_gradient(std::size_t t) {
    random_generator generator(key_.at(t));
    std::ranges::fill(elbo_gradient_, 0.0);
    std::size_t used = 0;
    for (std::size_t k = 0; k < settings_.gradient_draws; ++k) {
      double const log_density = evaluate(current_, generator);
      if (!overdub::is_finite(log_density) ||
          !std::ranges::all_of(gradient_, [](double g) { return overdub::is_finite(g); })) {
        ++skipped_;
        continue;
      }
      ++used;
      for (std::size_t i = 0; i < n_; ++i) {
        double const derivative = std::exp(current_[n_ + i]) * gradient_[i] + noise_[i];
        elbo_gradient_[i] += derivative;
        elbo_gradient_[n_ + i] += noise_[i] * derivative;
      }
    }
    if (used == 0)
      throw inference_error(message(
          "overdub: iteration %zu: the log density and its gradient are finite at none of %zu draws of the "
          "approximation: begin elsewhere, or mend the target",
          t, settings_.gradient_draws));
    for (double& s : elbo_gradient_) s /= static_cast<double>(used);
  }

  // A step of Adam (Kingma and Ba 2015), of means in units of their standard deviations, with a decreasing step size. Iterates are averaged
  // with polynomial decay, weights t⁷ (Shamir and Zhang 2013, "Stochastic gradient descent for non-smooth optimization").
  void adam_step(std::size_t t) {
    constexpr double forget_first = 0.9, forget_second = 0.99;
    estimate_gradient(t);
    auto const count = static_cast<double>(t);
    double const step = settings_.step / std::sqrt(1 + count / 100);
    double const part = 8 / (count + 7);
    for (std::size_t j = 0; j < 2 * n_; ++j) {
      first_[j] = forget_first * first_[j] + (1 - forget_first) * elbo_gradient_[j];
      second_[j] = forget_second * second_[j] + (1 - forget_second) * elbo_gradient_[j] * elbo_gradient_[j];
      double const mean = first_[j] / (1 - std::pow(forget_first, count));
      double const square = second_[j] / (1 - std::pow(forget_second, count));
      double const unit = j < n_ ? std::exp(current_[n_ + j]) : 1;
      current_[j] += step * unit * mean / (std::sqrt(square) + 1e-8);
      average_[j] += part * (current_[j] - average_[j]);
    }
    for (std::size_t i = 0; i < n_; ++i)
      if (!(std::abs(current_[n_ + i]) < 100))
        throw inference_error(message(
            "overdub: the deviation of coordinate %zu of the approximation became %g: the target is "
            "improper, or "
            "has a density without bounds",
            i + 1, std::exp(current_[n_ + i])));
  }

  T density_;
  variational_settings const& settings_;
  random_key key_;
  std::size_t n_;
  std::vector<double> current_, average_, elbo_gradient_, first_, second_, noise_, position_, gradient_;
  std::size_t skipped_ = 0;
};

} // namespace approximating

/// Fits the mean-field normal approximation q that minimises KL(q || target): it maximises the ELBO, a lower bound of the logarithm of the
/// target's integral, by stochastic gradient ascent (Kucukelbir, Tran, Ranganath, Gelman and Blei 2017, "Automatic differentiation
/// variational inference"). Standard deviations are too small where coordinates are correlated: those of a normal target are conditional
/// ones. The same key returns the same fit. Time: iterations x draws evaluations of the target. Throws inference_error for invalid
/// settings, for an improper target, and where the log density is not finite at draws of the approximation. An exception of the target is
/// passed to the caller.
template <target T>
variational_fit approximate(T const& density, variational_settings const& settings, random_key const& key) {
  return approximating::ascent<T>(density, settings, key).run();
}

} // namespace overdub::inference
