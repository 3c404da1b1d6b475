// Metrics of Hamiltonian Monte Carlo: the kinetic energy of a momentum p is p'Σp / 2, where Σ, the inverse metric, is best near the
// covariance of the target (Betancourt 2017, section 4.2). The diagonal metric is here, the dense one in dense_metric.hpp.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/streams.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/random.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace overdub::inference {

/// A metric. It is constructed from a dimension, as the identity, or from the elements of its inverse. `velocity` multiplies a momentum by
/// the inverse, `draw_momentum` draws from N(0, inverse^-1), and `adapt` sets the inverse to the covariance of an `estimator`.
template <class M>
concept metric = std::copyable<M> && std::constructible_from<M, std::size_t> &&
    std::constructible_from<M, std::size_t, std::span<double const>> && requires(
        M& m, M const& c, typename M::estimator& e, std::span<double const> p, std::span<double> out,
        random_generator& g) {
  { c.dimension() } -> std::convertible_to<std::size_t>;
  { c.inverse() } -> std::convertible_to<std::span<double const>>;
  { M::name } -> std::convertible_to<std::string_view>;
  c.velocity(p, out);
  c.draw_momentum(g, out);
  e.add(p);
  e.restart();
  m.adapt(e);
};

/// A diagonal inverse metric: a variance for each coordinate. All members are O(dimension).
class diagonal_metric {
public:
  static constexpr std::string_view name = "diag_e";

  explicit diagonal_metric(std::size_t dimension) : inverse_(dimension, 1.0), deviation_(dimension, 1.0) {}
  /// Throws inference_error unless there are `dimension` elements, positive and finite.
  diagonal_metric(std::size_t dimension, std::span<double const> inverse);

  std::size_t dimension() const { return inverse_.size(); }
  std::span<double const> inverse() const { return inverse_; }

  void velocity(std::span<double const> momentum, std::span<double> out) const {
    for (std::size_t i = 0; i < inverse_.size(); ++i) out[i] = inverse_[i] * momentum[i];
  }
  template <bit_generator G>
  void draw_momentum(G& generator, std::span<double> out) const {
    for (std::size_t i = 0; i < inverse_.size(); ++i) out[i] = drawing::normal(generator) / deviation_[i];
  }

  /// The sample variances of added points, by Welford's recurrence (1962).
  class estimator {
  public:
    explicit estimator(std::size_t dimension) : mean_(dimension), squares_(dimension) {}
    void add(std::span<double const> q) {
      ++count_;
      for (std::size_t i = 0; i < mean_.size(); ++i) {
        double const before = q[i] - mean_[i];
        mean_[i] += before / count_;
        squares_[i] += before * (q[i] - mean_[i]);
      }
    }
    void restart();
    double count() const { return count_; }
    double variance(std::size_t i) const { return count_ > 1 ? squares_[i] / (count_ - 1) : 1.0; }

  private:
    double count_ = 0;
    std::vector<double> mean_, squares_;
  };
  /// Sets the inverse metric to the variances of e, regularised towards 0.001 with the weight of five draws, as Stan does (Stan Reference
  /// Manual, "MCMC sampling", automatic parameter tuning). A variance that is not finite is ignored.
  void adapt(estimator const& e);

private:
  void scale();

  std::vector<double> inverse_, deviation_;
};

} // namespace overdub::inference
