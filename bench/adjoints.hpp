// Hand-written gradients of the functions in models.hpp: a forward pass that saves the residuals, and a backward pass. Each returns the
// function's value.
#pragma once

#include "models.hpp"

namespace bench {

inline double rosenbrock_adjoint(view x, std::span<double> by_x) {
  double sum = 0, from_left = 0;
  std::size_t const last = x.size() - 1;
  for (std::size_t i = 0; i < last; ++i) { // the derivatives of each term are computed with its value
    double const a = x[i], b = x[i + 1], t = b - a * a, u = 1.0 - a;
    sum = sum + 100.0 * t * t + u * u;
    by_x[i] = from_left - 400.0 * t * a - 2.0 * u;
    from_left = 200.0 * t;
  }
  by_x[last] = from_left;
  return sum;
}

struct pendulum_slopes {
  double value, by_angle, by_speed, by_friction;
};
// `kept` is memory for two numbers of each step.
inline pendulum_slopes
pendulum_adjoint(std::int64_t n, double a, double v, double friction, std::span<double> kept) {
  for (std::int64_t i = 0; i < n; ++i) {
    auto const k = 2 * static_cast<std::size_t>(i);
    kept[k] = 0.001 * std::cos(a);
    kept[k + 1] = v;
    double const next = a + 0.001 * v;
    v = v - 0.001 * (std::sin(a) + friction * v);
    a = next;
  }
  double by_angle = 1, by_speed = 0, by_friction = 0;
  double const slows = 1 - 0.001 * friction;
  for (std::int64_t i = n; i-- > 0;) {
    auto const k = 2 * static_cast<std::size_t>(i);
    by_friction -= 0.001 * kept[k + 1] * by_speed;
    double const angle = by_angle - kept[k] * by_speed;
    by_speed = 0.001 * by_angle + slows * by_speed;
    by_angle = angle;
  }
  return {a, by_angle, by_speed, by_friction};
}

// `kept` is memory for one number of each element: the derivative of the new sum by the previous one, so that the backward pass
// does not repeat the branches.
inline double branchy_adjoint(view x, std::span<double> by_x, std::span<double> kept) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const a = x[i];
    double by_sum = 1, by_a;
    if (a > 0.5) {
      sum = sum + a * a;
      by_a = 2 * a;
    } else if (sum > 10.0) {
      sum = sum * 0.5 - a;
      by_sum = 0.5;
      by_a = -1;
    } else {
      double const r = 1 / (1.0 + a * a);
      sum = sum - a * r;
      by_a = (a * a - 1) * r * r;
    }
    kept[i] = by_sum;
    by_x[i] = by_a;
  }
  double share = 1;
  for (std::size_t i = x.size(); i-- > 0;) {
    by_x[i] *= share;
    if (kept[i] != 1) share *= kept[i]; // the branch is predicted, and a product has latency
  }
  return sum;
}

// The gradient of the mixture by all arguments except its points. Each point's forward and backward pass run together, so that only the
// residuals of one point are saved.
class mixture_adjoint {
public:
  explicit mixture_adjoint(mixture_example const& e) : of_(e) {}

  numbers by_weights, by_means, by_diagonals, by_factors;

  double operator()() {
    constexpr std::size_t d = mixture_example::d, k = mixture_example::k;
    return run(opaque(d), opaque(k), opaque(of_.n));
  }

private:
  [[gnu::noinline]] double run(std::size_t d, std::size_t k, std::size_t n) {
    std::size_t const below = d * (d - 1) / 2;
    for (numbers* all : {&by_weights, &by_means, &by_diagonals, &by_factors})
      all->assign(all == &by_weights ? k : all == &by_factors ? k * below : k * d, 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < k * d; ++i) scales_[i] = std::exp(of_.diagonals[i]);
    for (std::size_t j = 0; j < k; ++j)
      traces_[j] = plain_sum_of(d, [&](std::size_t r) { return of_.diagonals[j * d + r]; });
    for (std::size_t i = 0; i < n; ++i) {
      double const* const x = &of_.points[i * d];
      sum += forwards(d, k, below, x);
      for (std::size_t j = 0; j < k; ++j) backwards(d, j, below, x, terms_[j]);
    }
    for (std::size_t j = 0; j < k; ++j)
      for (std::size_t r = 0; r < d; ++r)
        by_diagonals[j * d + r] = by_diagonals[j * d + r] * scales_[j * d + r] + by_weights[j];
    return sum;
  }
  // The log density of one point. Overwrites the terms with their responsibilities.
  double forwards(std::size_t d, std::size_t k, std::size_t below, double const* x) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < k; ++j) {
      double const* const __restrict m = &of_.means[j * d], * const __restrict s = &scales_[j * d];
      double const* __restrict f = &of_.factors[j * below];
      double* const __restrict y = &tilted_[j * d];
      double distance = 0;
      for (std::size_t r = 0; r < d; f += r, ++r) {
        double each = s[r] * (x[r] - m[r]);
        for (std::size_t c = 0; c < r; ++c) each += f[c] * (x[c] - m[c]);
        y[r] = each;
        distance += each * each;
      }
      terms_[j] = of_.weights[j] + traces_[j] - 0.5 * distance;
      most = std::max(most, terms_[j]);
    }
    double sum = 0;
    for (std::size_t j = 0; j < k; ++j) sum += terms_[j] = std::exp(terms_[j] - most);
    for (std::size_t j = 0; j < k; ++j) terms_[j] /= sum;
    return most + std::log(sum);
  }
  void backwards(std::size_t d, std::size_t j, std::size_t below, double const* x, double share) {
    double const* const __restrict m = &of_.means[j * d], * const __restrict s = &scales_[j * d], * const __restrict y = &tilted_[j * d];
    double const* __restrict f = &of_.factors[j * below];
    double *__restrict by_f = &by_factors[j * below], *const __restrict by_m = &by_means[j * d],
           *const __restrict by_s = &by_diagonals[j * d]; // by the scale, until the end
    by_weights[j] += share;
    for (std::size_t r = 0; r < d; f += r, by_f += r, ++r) {
      double const by_y = -share * y[r];
      by_s[r] += by_y * (x[r] - m[r]);
      by_m[r] -= by_y * s[r];
      for (std::size_t c = 0; c < r; ++c) {
        by_f[c] += by_y * (x[c] - m[c]);
        by_m[c] -= by_y * f[c];
      }
    }
  }

  mixture_example const& of_;
  numbers scales_ = numbers(mixture_example::d * mixture_example::k), traces_ = numbers(mixture_example::k),
          terms_ = numbers(mixture_example::k), tilted_ = numbers(mixture_example::d * mixture_example::k);
};

} // namespace bench
