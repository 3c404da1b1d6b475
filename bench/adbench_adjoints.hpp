// Gradients of the functions in adbench_models.hpp, written by hand.
#pragma once

#include "adbench_models.hpp"

#include <algorithm>
#include <vector>

namespace bench {

// ---- bundle adjustment

// The partial derivatives of an observation's errors by the camera, the point and the weight, and that of the weight's error.
struct observation_slopes {
  double x[observation_size], y[observation_size], weight;
};

// A row of the Jacobian: maps the cotangent g of the point in camera coordinates to the cotangents of the rotation, the centre and the
// point. `turn` holds the values of a non-zero rotation, which both rows share.
struct turn {
  three<double> axis, across, moved;
  double s, c, inverse, along;
};
inline void row_of(turn const& t, three<double> const& g, double* slopes) {
  double const g_axis = inner(g, t.axis), rest = 1 - t.c;
  three<double> const g_across = cross(g, t.axis), moved_g = cross(t.moved, g);
  double const by_c = inner(g, t.moved) - g_axis * t.along, by_angle = t.c * inner(g, t.across) - t.s * by_c;
  three<double> by_axis;
  for (std::size_t k = 0; k < 3; ++k)
    by_axis[k] = t.s * moved_g[k] + rest * (t.along * g[k] + g_axis * t.moved[k]);
  double const along = inner(t.axis, by_axis);
  for (std::size_t k = 0; k < 3; ++k) {
    slopes[k] = (by_axis[k] - t.axis[k] * along) * t.inverse + t.axis[k] * by_angle;
    double const by_point = g[k] * t.c + g_across[k] * t.s + t.axis[k] * (g_axis * rest);
    slopes[11 + k] = by_point;
    slopes[3 + k] = -by_point;
  }
}
inline void
row_without_turn(three<double> const& r, three<double> const& x, three<double> const& g, double* slopes) {
  three<double> const by_r = cross(x, g), g_r = cross(g, r);
  for (std::size_t k = 0; k < 3; ++k) {
    slopes[k] = by_r[k];
    slopes[11 + k] = g[k] + g_r[k];
    slopes[3 + k] = -slopes[11 + k];
  }
}
inline void observation_adjoint(
    double const* c, double const* point, double weight, double const* feature, observation_slopes& slopes) {
  three<double> const r{c[0], c[1], c[2]}, x{point[0] - c[3], point[1] - c[4], point[2] - c[5]};
  double const square = inner(r, r);
  turn t{};
  three<double> seen;
  if (square != 0) {
    double const angle = std::sqrt(square);
    t.s = std::sin(angle);
    t.c = std::cos(angle);
    t.inverse = 1 / angle;
    t.axis = {r[0] * t.inverse, r[1] * t.inverse, r[2] * t.inverse};
    t.moved = x;
    t.across = cross(t.axis, x);
    t.along = inner(t.axis, x);
    for (std::size_t k = 0; k < 3; ++k)
      seen[k] = x[k] * t.c + t.across[k] * t.s + t.axis[k] * (t.along * (1 - t.c));
  } else
    seen = turned_little(r, x);
  double const inverse = 1 / seen[2], u = seen[0] * inverse, v = seen[1] * inverse, radius = u * u + v * v;
  double const scale = 1 + c[9] * radius + c[10] * radius * radius;
  double const focal = weight * c[6], bends = 2 * focal * (c[9] + 2 * c[10] * radius);
  double const uv = bends * u * v;
  auto const row = [&](double* out, double by_u, double by_v, double along, double seen_at,
                       double feature_at) {
    three<double> const g{by_u * inverse, by_v * inverse, -(by_u * u + by_v * v) * inverse};
    if (square != 0)
      row_of(t, g, out);
    else
      row_without_turn(r, x, g, out);
    out[6] = weight * scale * along;
    out[9] = focal * radius * along;
    out[10] = out[9] * radius;
    out[14] = seen_at + c[6] * scale * along - feature_at;
  };
  row(slopes.x, focal * scale + bends * u * u, uv, u, c[7], feature[0]);
  row(slopes.y, uv, focal * scale + bends * v * v, v, c[8], feature[1]);
  slopes.x[7] = slopes.y[8] = weight;
  slopes.x[8] = slopes.y[7] = 0;
  slopes.weight = -2 * weight;
}

// ---- LSTM

class lstm_adjoint {
public:
  std::vector<double> by_parameters, by_others;

  lstm_adjoint(std::size_t b, std::size_t rows)
      : by_parameters(16 * b), by_others(3 * b), turns_(rows * 2 * b), exps_(rows * b), given_(rows * b),
        normal_(rows), row_(b), by_hidden_(2 * b), by_cell_(2 * b) {}

  double operator()(
      std::size_t b, std::size_t rows, double const* parameters, double const* others, double const* start,
      double const* sequence) {
    std::fill(by_parameters.begin(), by_parameters.end(), 0.0);
    std::fill(by_others.begin(), by_others.end(), 0.0);
    std::fill(by_hidden_.begin(), by_hidden_.end(), 0.0);
    std::fill(by_cell_.begin(), by_cell_.end(), 0.0);
    double const value = forwards(b, rows, parameters, others, start, sequence);
    backwards(b, rows, parameters, others, sequence);
    return value;
  }

private:
  // The values that the backward pass of a layer needs for one number.
  struct turn_kept {
    double input, hidden, cell; // before the step
    double forget, in, out, change, tanh_cell;
  };

  double forwards(
      std::size_t b, std::size_t rows, double const* parameters, double const* others, double const* start,
      double const* sequence) {
    double total = 0;
    turn_kept* kept = turns_.data();
    state_.assign(start, start + 4 * b);
    for (std::size_t t = 0; t + 1 < rows; ++t) {
      for (std::size_t j = 0; j < b; ++j) row_[j] = sequence[t * b + j] * others[j];
      for (std::size_t layer = 0; layer < 2; ++layer)
        for (std::size_t j = 0; j < b; ++j, ++kept) {
          double const *const w = parameters + 8 * b * layer + j, *const bias = w + 4 * b;
          double &hidden = state_[2 * b * layer + j], &cell = state_[2 * b * layer + b + j];
          kept->input = row_[j];
          kept->hidden = hidden;
          kept->cell = cell;
          kept->forget = logistic_curve(row_[j] * w[0] + bias[0]);
          kept->in = logistic_curve(hidden * w[b] + bias[b]);
          kept->out = logistic_curve(row_[j] * w[2 * b] + bias[2 * b]);
          kept->change = std::tanh(hidden * w[3 * b] + bias[3 * b]);
          cell = cell * kept->forget + kept->in * kept->change;
          kept->tanh_cell = std::tanh(cell);
          row_[j] = hidden = kept->out * kept->tanh_cell;
        }
      double sum = 2;
      for (std::size_t j = 0; j < b; ++j) {
        given_[t * b + j] = row_[j];
        row_[j] = row_[j] * others[b + j] + others[2 * b + j];
        sum += exps_[t * b + j] = std::exp(row_[j]);
      }
      double const normal = std::log(sum);
      normal_[t] = 1 / sum;
      for (std::size_t j = 0; j < b; ++j) total += sequence[(t + 1) * b + j] * (row_[j] - normal);
    }
    return -total / static_cast<double>(b * (rows - 1));
  }
  void backwards(
      std::size_t b, std::size_t rows, double const* parameters, double const* others,
      double const* sequence) {
    double const share = -1 / static_cast<double>(b * (rows - 1));
    for (std::size_t t = rows - 1; t-- > 0;) {
      double const* const wanted = sequence + (t + 1) * b;
      double by_normal = 0;
      for (std::size_t j = 0; j < b; ++j) by_normal += wanted[j];
      for (std::size_t j = 0; j < b; ++j) {
        double const by_row = share * (wanted[j] - by_normal * exps_[t * b + j] * normal_[t]);
        by_others[b + j] += by_row * given_[t * b + j];
        by_others[2 * b + j] += by_row;
        row_[j] = by_row * others[b + j];
      }
      for (std::size_t layer = 2; layer-- > 0;)
        for (std::size_t j = 0; j < b; ++j) {
          turn_kept const& k = turns_[(t * 2 + layer) * b + j];
          double const* const w = parameters + 8 * b * layer + j;
          double *const by_w = &by_parameters[8 * b * layer + j], *const by_bias = by_w + 4 * b;
          double const by_given = row_[j] + by_hidden_[layer * b + j];
          double const by_cell = by_cell_[layer * b + j] + by_given * k.out * (1 - k.tanh_cell * k.tanh_cell);
          double const by_out = by_given * k.tanh_cell * k.out * (1 - k.out),
                       by_forget = by_cell * k.cell * k.forget * (1 - k.forget),
                       by_in = by_cell * k.change * k.in * (1 - k.in),
                       by_change = by_cell * k.in * (1 - k.change * k.change);
          by_cell_[layer * b + j] = by_cell * k.forget;
          by_hidden_[layer * b + j] = by_in * w[b] + by_change * w[3 * b];
          row_[j] = by_forget * w[0] + by_out * w[2 * b];
          by_w[0] += by_forget * k.input;
          by_w[b] += by_in * k.hidden;
          by_w[2 * b] += by_out * k.input;
          by_w[3 * b] += by_change * k.hidden;
          by_bias[0] += by_forget;
          by_bias[b] += by_in;
          by_bias[2 * b] += by_out;
          by_bias[3 * b] += by_change;
        }
      for (std::size_t j = 0; j < b; ++j) by_others[j] += row_[j] * sequence[t * b + j];
    }
  }

  std::vector<turn_kept> turns_;
  std::vector<double> exps_, given_, normal_, row_, by_hidden_, by_cell_, state_;
};

// ---- the others

inline double log_sum_exp_adjoint(std::span<double const> x, std::span<double> by_x) {
  double most = x[0];
  for (double const a : x) most = std::max(most, a);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += by_x[i] = std::exp(x[i] - most);
  double const share = 1 / sum;
  for (double& slope : by_x) slope *= share;
  return most + std::log(sum);
}

// `powers` is scratch memory of the size of x.
inline double least_squares_adjoint(
    std::span<double const> x, std::size_t n, std::span<double> by_x, std::span<double> powers) {
  double const step = 2.0 / static_cast<double>(n - 1);
  double squares = 0;
  double* const __restrict slopes = by_x.data(), * const __restrict p = powers.data();
  std::fill(by_x.begin(), by_x.end(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double const t = -1.0 + static_cast<double>(i) * step;
    double fitted = 0, power = 1;
    for (std::size_t j = 0; j < x.size(); ++j) {
      fitted += x[j] * power;
      p[j] = power;
      power *= t;
    }
    double const residual = (t > 0 ? 1.0 : t < 0 ? -1.0 : 0.0) - fitted;
    squares += residual * residual;
    for (std::size_t j = 0; j < x.size(); ++j) slopes[j] -= residual * p[j];
  }
  return 0.5 * squares;
}

} // namespace bench
