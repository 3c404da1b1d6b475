// dense_metric: a dense inverse metric, for targets of strongly correlated coordinates. It needs Eigen 3.3 or newer.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/inference/metric.hpp>
#include <overdub/random.hpp>

#if __has_include(<Eigen/Cholesky>)
#include <Eigen/Cholesky>
#else
#include <eigen3/Eigen/Cholesky>
#endif

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace overdub::inference {

/// A dense inverse metric. A leapfrog step is O(n^2) in the dimension, adaptation O(n^3).
class dense_metric {
  using matrix = Eigen::MatrixXd;
  using vector = Eigen::VectorXd;

public:
  static constexpr std::string_view name = "dense_e";

  explicit dense_metric(std::size_t dimension)
      : inverse_(matrix::Identity(index(dimension), index(dimension))) {
    factor_.compute(inverse_);
  }
  /// Elements in row-major order. Throws inference_error unless they are a symmetric, positive definite matrix of this dimension.
  dense_metric(std::size_t dimension, std::span<double const> inverse) {
    if (inverse.size() != dimension * dimension)
      throw inference_error(message(
          "overdub: an inverse metric of %zu elements for a target of dimension %zu: give a dense metric the "
          "rows of a square "
          "matrix",
          inverse.size(), dimension));
    inverse_ = Eigen::Map<matrix const>(inverse.data(), index(dimension), index(dimension));
    if (!inverse_.isApprox(inverse_.transpose(), 1e-6) || !factorised(inverse_))
      throw inference_error(message(
          "overdub: the inverse metric is no covariance: give a symmetric, positive definite matrix"));
  }

  std::size_t dimension() const { return static_cast<std::size_t>(inverse_.rows()); }
  std::span<double const> inverse() const {
    return {inverse_.data(), static_cast<std::size_t>(inverse_.size())};
  }

  void velocity(std::span<double const> momentum, std::span<double> out) const {
    Eigen::Map<vector>(out.data(), index(out.size())).noalias() =
        inverse_ * Eigen::Map<vector const>(momentum.data(), index(momentum.size()));
  }
  /// With the inverse metric L L', solves L' p = z for a standard normal z.
  template <bit_generator G>
  void draw_momentum(G& generator, std::span<double> out) const {
    for (double& z : out) z = drawing::normal(generator);
    Eigen::Map<vector> p(out.data(), index(out.size()));
    factor_.matrixU().solveInPlace(p);
  }

  /// The sample covariance of added points, by Welford's recurrence (1962).
  class estimator {
  public:
    explicit estimator(std::size_t dimension)
        : mean_(vector::Zero(index(dimension))), before_(mean_), after_(mean_),
          products_(matrix::Zero(index(dimension), index(dimension))) {}
    void add(std::span<double const> q) {
      Eigen::Map<vector const> const x(q.data(), index(q.size()));
      ++count_;
      before_ = x - mean_;
      mean_ += before_ / count_;
      after_ = x - mean_;
      products_.noalias() += after_ * before_.transpose();
    }
    void restart() {
      count_ = 0;
      mean_.setZero();
      products_.setZero();
    }
    double count() const { return count_; }
    matrix covariance() const {
      if (!(count_ > 1)) return matrix::Identity(products_.rows(), products_.cols());
      return (products_ + products_.transpose()) / (2 * (count_ - 1));
    }

  private:
    double count_ = 0;
    vector mean_, before_, after_;
    matrix products_;
  };
  /// Sets the inverse metric to the covariance of e, regularised towards 0.001 times the identity with the weight of five draws, as Stan
  /// does (Stan Reference Manual, "MCMC sampling", automatic parameter tuning). A matrix that is not positive definite is ignored.
  void adapt(estimator const& e) {
    double const n = e.count();
    matrix m = n / (n + 5) * e.covariance();
    m.diagonal().array() += 1e-3 * (5 / (n + 5));
    if (factorised(m))
      inverse_ = m;
    else
      factor_.compute(inverse_);
  }

private:
  static Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }
  bool factorised(matrix const& m) {
    std::span<double const> const elements(m.data(), static_cast<std::size_t>(m.size()));
    if (!std::ranges::all_of(elements, [](double x) { return overdub::is_finite(x); })) return false;
    factor_.compute(m);
    return factor_.info() == Eigen::Success;
  }

  matrix inverse_;
  Eigen::LLT<matrix> factor_;
};

} // namespace overdub::inference
