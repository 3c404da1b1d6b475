// Four functions on which tools for automatic differentiation are compared, written for overdub and by hand. They are defined by
//
//   F. Srajer, Z. Kukelova, A. Fitzgibbon: A benchmark of selected algorithmic differentiation tools on some problems in computer
//   vision and machine learning. Optimization Methods and Software 33 (2018)
//
// for bundle adjustment; by ADBench, its successor, for the LSTM; and by gradbench for the logarithm of a sum of exponentials and
// for linear least squares.
#pragma once

#include "ratio.hpp"

#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>

namespace bench {

using overdub::fn;

// ---- bundle adjustment: the projection of a point by a camera, against its observed position

template <class T>
using three = std::array<T, 3>;
template <class T>
T inner(three<T> const& a, three<T> const& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class T>
three<T> cross(three<T> const& a, three<T> const& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
// Rotates x around the axis r by |r| radians, by the formula of Rodrigues.
template <class T>
three<T> turned(three<T> const& r, three<T> const& x, T const& square) {
  using std::sqrt, std::sin, std::cos;
  T const angle = sqrt(square), s = sin(angle), c = cos(angle), inverse = 1.0 / angle;
  three<T> const axis{r[0] * inverse, r[1] * inverse, r[2] * inverse}, across = cross(axis, x);
  T const along = inner(axis, x) * (1.0 - c);
  return {
      x[0] * c + across[0] * s + axis[0] * along, x[1] * c + across[1] * s + axis[1] * along,
      x[2] * c + across[2] * s + axis[2] * along};
}
template <class T>
three<T> turned_little(three<T> const& r, three<T> const& x) {
  three<T> const across = cross(r, x);
  return {x[0] + across[0], x[1] + across[1], x[2] + across[2]};
}

// The parameters of a camera: rotation, centre, focal length, principal point, two coefficients of radial distortion.
inline constexpr std::size_t camera_size = 11, point_size = 3,
                             observation_size = camera_size + point_size + 1;
template <class T>
using camera = std::array<T, camera_size>;
// The image coordinates of a point, which has the camera coordinates x.
template <class T>
std::array<T, 2> in_image(auto const& c, three<T> const& x) {
  T const u = x[0] / x[2], v = x[1] / x[2];
  T const square = u * u + v * v;
  T const scale = c[6] * (1.0 + c[9] * square + c[10] * square * square);
  return {c[7] + scale * u, c[8] + scale * v};
}
// The reprojection error of an observation of a point, along one image axis: a function of the camera's parameters, the point's
// coordinates, the weight, and the observed position.
template <int Axis>
inline constexpr auto observed = fn<"observed">([](auto... numbers) {
  std::array const all{numbers...};
  using T = typename decltype(all)::value_type;
  three<T> const r{all[0], all[1], all[2]}, x{all[11] - all[3], all[12] - all[4], all[13] - all[5]};
  T const square = inner(r, r);
  auto const in_directions = overdub::if_(
      square != 0.0, [=] { return turned(r, x, square); }, [=] { return turned_little(r, x); });
  return all[14] * (in_image<T>(all, in_directions)[Axis] - all[15]);
});
inline constexpr auto weight_error = fn<"weight_error">([](auto weight) { return 1.0 - weight * weight; });

// The non-zero elements of the Jacobian: for each observation, the partial derivatives of its two errors by the camera, the point and the
// weight, and that of the weight's error.
inline constexpr auto adjustment = fn<"adjustment">(
    [](auto cameras, auto points, auto weights, auto features, auto of_camera, auto of_point) {
      using overdub::gradient;
      return overdub::tabulate(overdub::size(weights), [=](auto i) {
        auto const c = of_camera[i] * 11, p = of_point[i] * 3;
        auto const weight = weights[i];
        return [&]<std::size_t... C, std::size_t... P, std::size_t... All>(
            std::index_sequence<C...>, std::index_sequence<P...>, std::index_sequence<All...>) {
          auto const slopes = [&](auto f, auto feature) {
            return gradient<All...>(f)(
                cameras[c + static_cast<int>(C)]..., points[p + static_cast<int>(P)]..., weight, feature);
          };
          return std::tuple{
              slopes(observed<0>, features[2 * i]), slopes(observed<1>, features[2 * i + 1]),
              gradient(weight_error)(weight)};
        }
        (std::make_index_sequence<camera_size>(), std::make_index_sequence<point_size>(),
         std::make_index_sequence<observation_size>());
      });
    });

template <class T>
std::array<T, 2>
observed_by_hand(camera<T> const& c, three<T> const& point, T const& weight, double u, double v) {
  three<T> const r{c[0], c[1], c[2]}, x{point[0] - c[3], point[1] - c[4], point[2] - c[5]};
  T const square = inner(r, r);
  auto const in = in_image<T>(c, square != 0.0 ? turned(r, x, square) : turned_little(r, x));
  return {weight * (in[0] - u), weight * (in[1] - v)};
}

// ---- a recurrent network: LSTM of two layers, whose matrices are diagonal

// A step of a layer: returns the new state of its cells and its output. Its parameters begin at `from`: the weights of four gates, and
// their biases, `b` each.
template <class T>
T logistic_curve(T const& x) {
  using std::exp;
  return 1.0 / (1.0 + exp(-x));
}
inline constexpr auto lstm_layer =
    fn<"lstm_layer">([](auto const& parameters, auto from, auto b, auto const& input, auto const& state) {
      return overdub::tabulate(b, [=](auto j) {
        auto const& [hidden, cell] = state;
        auto const gate = [&](int number, auto x) {
          return parameters[from + number * b + j] * x + parameters[from + (number + 4) * b + j];
        };
        auto const x = input[j], h = hidden[j];
        auto const forget = logistic_curve(gate(0, x)), in = logistic_curve(gate(1, h)),
                   out = logistic_curve(gate(2, x)), change = tanh(gate(3, h));
        auto const next = cell[j] * forget + in * change;
        return std::tuple{out * tanh(next), next};
      });
    });
// The mean loss over the predictions of each row of a sequence from the earlier rows. `others` holds the weights of the input and of the
// output, and the output's biases.
inline constexpr auto lstm = fn<"lstm">([](auto b, auto rows, auto parameters, auto others, auto state,
                                           auto sequence) {
  using overdub::sum, overdub::tabulate;
  auto const part = [=](int number) { return tabulate(b, [=](auto j) { return state[number * b + j]; }); };
  auto const start = std::tuple{std::tuple{part(0), part(1)}, std::tuple{part(2), part(3)}, 0.0};
  auto const end = overdub::loop(rows - 1, start, [=](auto t, auto const& before) {
    auto const& [first, second, total] = before;
    auto const input = tabulate(b, [=](auto j) { return sequence[t * b + j] * others[j]; });
    auto const one = lstm_layer(parameters, overdub::i64{0}, b, input, first);
    auto const two = lstm_layer(parameters, 8 * b, b, std::get<0>(one), second);
    auto const given = std::get<0>(two);
    auto const predicted = tabulate(b, [=](auto j) { return given[j] * others[b + j] + others[2 * b + j]; });
    auto const normal = log(2.0 + sum(overdub::map([](auto y) { return exp(y); }, predicted)));
    auto const likelihood =
        sum(tabulate(b, [=](auto j) { return sequence[(t + 1) * b + j] * (predicted[j] - normal); }));
    return std::tuple{one, two, total + likelihood};
  });
  return -std::get<2>(end) / overdub::convert<double>(b * (rows - 1));
});
// `state` and `row` are scratch memory of 4 b and b numbers.
template <class T>
T lstm_by_hand(
    std::size_t b, std::size_t rows, std::span<T const> parameters, std::span<T const> others,
    std::span<T> state, std::span<T> row, std::span<double const> sequence) {
  using std::exp, std::log, std::tanh;
  T total = 0;
  for (std::size_t t = 0; t + 1 < rows; ++t) {
    for (std::size_t j = 0; j < b; ++j) row[j] = sequence[t * b + j] * others[j];
    for (std::size_t layer = 0; layer < 2; ++layer)
      for (std::size_t j = 0; j < b; ++j) {
        T const *const w = &parameters[8 * b * layer + j], *const bias = w + 4 * b;
        T &hidden = state[2 * b * layer + j], &cell = state[2 * b * layer + b + j];
        T const forget = logistic_curve<T>(row[j] * w[0] + bias[0]),
                in = logistic_curve<T>(hidden * w[b] + bias[b]),
                out = logistic_curve<T>(row[j] * w[2 * b] + bias[2 * b]),
                change = tanh(hidden * w[3 * b] + bias[3 * b]);
        cell = cell * forget + in * change;
        hidden = out * tanh(cell);
        row[j] = hidden;
      }
    T sum = 2;
    for (std::size_t j = 0; j < b; ++j) {
      row[j] = row[j] * others[b + j] + others[2 * b + j];
      sum += exp(row[j]);
    }
    T const normal = log(sum);
    for (std::size_t j = 0; j < b; ++j) total += sequence[(t + 1) * b + j] * (row[j] - normal);
  }
  return -total / static_cast<double>(b * (rows - 1));
}

// ---- the logarithm of a sum of exponentials

inline constexpr auto log_sum_exp = fn<"log_sum_exp">([](auto x) {
  auto const most = overdub::reduce(overdub::max, x);
  return most + log(overdub::sum(overdub::map([=](auto a) { return exp(a - most); }, x)));
});
template <class T>
[[gnu::noinline]] T log_sum_exp_by_hand(std::span<T const> x) {
  using std::exp, std::log;
  T most = x[0];
  for (T const& a : x)
    if (most < a) most = a;
  T sum = 0;
  for (T const& a : x) sum += exp(a - most);
  return most + log(sum);
}

// ---- linear least squares: fits a polynomial to the sign function at n points between -1 and 1

inline constexpr auto least_squares = fn<"least_squares">([](auto x, auto n) {
  auto const step = 2.0 / overdub::convert<double>(n - 1);
  auto const squares = overdub::sum(overdub::tabulate(n, [=](auto i) {
    auto const t = -1.0 + overdub::convert<double>(i) * step;
    auto const sign = overdub::if_(
        t > 0.0, [=] { return 1.0; },
        [=] {
          return overdub::if_(
              t < 0.0, [] { return -1.0; }, [] { return 0.0; });
        });
    auto const fitted = overdub::loop(overdub::size(x), std::tuple{0.0, 1.0}, [=](auto j, auto const& state) {
      auto const& [sum, power] = state;
      return std::tuple{sum + x[j] * power, power * t};
    });
    auto const residual = sign - std::get<0>(fitted);
    return residual * residual;
  }));
  return 0.5 * squares;
});
template <class T>
[[gnu::noinline]] T least_squares_by_hand(std::span<T const> x, std::size_t n) {
  T squares = 0;
  double const step = 2.0 / static_cast<double>(n - 1);
  for (std::size_t i = 0; i < n; ++i) {
    double const t = -1.0 + static_cast<double>(i) * step;
    T fitted = 0;
    double power = 1;
    for (T const& each : x) {
      fitted += each * power;
      power *= t;
    }
    T const residual = (t > 0 ? 1.0 : t < 0 ? -1.0 : 0.0) - fitted;
    squares += residual * residual;
  }
  return 0.5 * squares;
}

} // namespace bench
