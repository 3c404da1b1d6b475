#include "functions.hpp"

#include <cmath>

namespace lifted {

double pendulum(long n, double angle, double speed, double friction) {
  for (long i = 0; i < n; ++i) {
    double const next = angle + 0.001 * speed;
    speed = speed - 0.001 * (std::sin(angle) + friction * speed);
    angle = next;
  }
  return angle;
}

// ---- a Gaussian mixture

static double log_sum_exp(int n, double const* x) {
  double most = x[0];
  for (int i = 1; i < n; ++i)
    if (most < x[i]) most = x[i];
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::exp(x[i] - most);
  return most + std::log(sum);
}

// The square of the distance of x from a mean, in the metric of a component: scales are those of the axes, and factors a triangle.
static double
distance(int d, double const* x, double const* mean, double const* scales, double const* factors) {
  double sum = 0;
  for (int r = 0; r < d; ++r) {
    double tilted = 0;
    for (int c = 0; c < r; ++c) tilted += factors[r * (r - 1) / 2 + c] * (x[c] - mean[c]);
    double const y = scales[r] * (x[r] - mean[r]) + tilted;
    sum += y * y;
  }
  return sum;
}

double mixture(
    int d, int k, int n, double const* weights, double const* means, double const* diagonals,
    double const* factors, double const* points, double* scales, double* traces, double* terms) {
  int const below = d * (d - 1) / 2;
  for (int i = 0; i < k * d; ++i) scales[i] = std::exp(diagonals[i]);
  for (int j = 0; j < k; ++j) {
    traces[j] = 0;
    for (int r = 0; r < d; ++r) traces[j] += diagonals[j * d + r];
  }
  double likelihood = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < k; ++j)
      terms[j] = weights[j] + traces[j] -
                 0.5 * distance(d, points + i * d, means + j * d, scales + j * d, factors + j * below);
    likelihood += log_sum_exp(k, terms);
  }
  return likelihood;
}

// ---- bundle adjustment

static double inner(double const* a, double const* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(double const* a, double const* b, double* c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

// Rotates x around the axis r by |r| radians, by the formula of Rodrigues.
static void rotate(double const* r, double const* x, double* rotated) {
  double const square = inner(r, r);
  double across[3];
  if (square != 0) {
    double const angle = std::sqrt(square), s = std::sin(angle), c = std::cos(angle), inverse = 1 / angle;
    double axis[3];
    for (int k = 0; k < 3; ++k) axis[k] = r[k] * inverse;
    cross(axis, x, across);
    double const along = inner(axis, x) * (1 - c);
    for (int k = 0; k < 3; ++k) rotated[k] = x[k] * c + across[k] * s + axis[k] * along;
  } else {
    cross(r, x, across);
    for (int k = 0; k < 3; ++k) rotated[k] = x[k] + across[k];
  }
}

// The errors of an observation in both image axes. A camera has a rotation, a centre, a focal length, a principal point, and two
// coefficients of radial distortion.
static void
project(double const* camera, double const* point, double weight, double const* feature, double* error) {
  double moved[3], seen[3];
  for (int k = 0; k < 3; ++k) moved[k] = point[k] - camera[3 + k];
  rotate(camera, moved, seen);
  double const u = seen[0] / seen[2], v = seen[1] / seen[2], square = u * u + v * v;
  double const scale = camera[6] * (1 + camera[9] * square + camera[10] * square * square);
  error[0] = weight * (camera[7] + scale * u - feature[0]);
  error[1] = weight * (camera[8] + scale * v - feature[1]);
}

double adjustment(
    int n, double const* cameras, double const* points, double const* weights, double const* features,
    long const* of_camera, long const* of_point) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double error[2];
    project(cameras + 11 * of_camera[i], points + 3 * of_point[i], weights[i], features + 2 * i, error);
    sum += error[0] * error[0] + error[1] * error[1];
  }
  return sum;
}

// ---- a recurrent network

static double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// A step of a layer, whose input becomes its output. The parameters are the weights of four gates, and their biases, b each.
static void layer(int b, double const* parameters, double* hidden, double* cell, double* row) {
  for (int j = 0; j < b; ++j) {
    double const forget = logistic(row[j] * parameters[j] + parameters[4 * b + j]);
    double const in = logistic(hidden[j] * parameters[b + j] + parameters[5 * b + j]);
    double const out = logistic(row[j] * parameters[2 * b + j] + parameters[6 * b + j]);
    double const change = std::tanh(hidden[j] * parameters[3 * b + j] + parameters[7 * b + j]);
    cell[j] = cell[j] * forget + in * change;
    hidden[j] = out * std::tanh(cell[j]);
    row[j] = hidden[j];
  }
}

double lstm(
    int b, int rows, double const* parameters, double const* others, double* state, double const* sequence,
    double* row) {
  double total = 0;
  for (int t = 0; t + 1 < rows; ++t) {
    for (int j = 0; j < b; ++j) row[j] = sequence[t * b + j] * others[j];
    layer(b, parameters, state, state + b, row);
    layer(b, parameters + 8 * b, state + 2 * b, state + 3 * b, row);
    double sum = 2;
    for (int j = 0; j < b; ++j) {
      row[j] = row[j] * others[b + j] + others[2 * b + j];
      sum += std::exp(row[j]);
    }
    double const normal = std::log(sum);
    for (int j = 0; j < b; ++j) total += sequence[(t + 1) * b + j] * (row[j] - normal);
  }
  return -total / (b * (rows - 1));
}

} // namespace lifted
