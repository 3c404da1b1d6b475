// Reverse-mode gradients of the functions in adbench_models.hpp, compiled by overdub, against the hand-written gradients in
// adbench_adjoints.hpp, compiled by the host's compiler (at -O3 -march=native -ffp-contract=off).
#include "adbench_adjoints.hpp"
#include "adbench_models.hpp"
#include "gradient.hpp"
#include "ratio.hpp"

#include <array>
#include <tuple>

namespace {

using namespace bench;

overdub::compile_options machine_code_now() {
  return {.executor = overdub::jit::compiled(), .tiers = overdub::tiers::compile_now};
}

// ---- bundle adjustment

class adjustment_example {
public:
  static constexpr std::size_t cameras = 49, points = 1000, observations = 4000;

  adjustment_example() {
    for (std::size_t c = 0; c < cameras; ++c) {
      cameras_[c * camera_size + 6] += 500;                                  // the focal length
      for (std::size_t k : {9u, 10u}) cameras_[c * camera_size + k] *= 0.01; // distortion
    }
    for (std::size_t k = 0; k < 3; ++k) cameras_[k] = 0; // one camera without a rotation
    for (std::size_t p = 0; p < points; ++p) points_[p * point_size + 2] += 8;
    for (std::size_t i = 0; i < observations; ++i) {
      of_camera_[i] = static_cast<i64>(i % cameras);
      of_point_[i] = static_cast<i64>(i * 7 % points);
    }
  }

  double primal() {
    forget_memory();
    for (std::size_t i = 0; i < observations; ++i) {
      camera<double> c;
      three<double> p;
      auto const at = static_cast<std::size_t>(of_camera_[i]) * camera_size,
                 of = static_cast<std::size_t>(of_point_[i]) * point_size;
      for (std::size_t k = 0; k < camera_size; ++k) c[k] = cameras_[at + k];
      for (std::size_t k = 0; k < point_size; ++k) p[k] = points_[of + k];
      auto const error = observed_by_hand(c, p, weights_[i], features_[2 * i], features_[2 * i + 1]);
      errors_[3 * i] = error[0];
      errors_[3 * i + 1] = error[1];
      errors_[3 * i + 2] = 1 - weights_[i] * weights_[i];
    }
    return errors_[0];
  }
  double by_hand() {
    forget_memory();
    for (std::size_t i = 0; i < observations; ++i)
      observation_adjoint(
          &cameras_[static_cast<std::size_t>(of_camera_[i]) * camera_size],
          &points_[static_cast<std::size_t>(of_point_[i]) * point_size], weights_[i], &features_[2 * i],
          slopes_[i]);
    return slopes_[0].weight;
  }
  auto by(auto const& compiled) const {
    forget_memory();
    return compiled(
        borrowed(cameras_), borrowed(points_), borrowed(weights_), borrowed(features_),
        array<i64>::borrow(of_camera_), array<i64>::borrow(of_point_));
  }
  void check_all(auto const& found) {
    auto const& [x, y, weight] = found;
    by_hand();
    for (std::size_t i = 0; i < observations; ++i) {
      auto const at = static_cast<i64>(i);
      check_row(slopes_[i].x, x, at);
      check_row(slopes_[i].y, y, at);
      check("bundle adjustment", slopes_[i].weight, weight[at]);
    }
    for (std::size_t i : {0u, 1u, 50u}) // one observation is by the camera without a rotation
      for (std::size_t k = 0; k < 15; ++k) {
        numbers& all = k < 11 ? cameras_ : k < 14 ? points_ : weights_;
        auto const c = static_cast<std::size_t>(of_camera_[i]) * camera_size,
                   p = static_cast<std::size_t>(of_point_[i]) * point_size;
        if (i == 0 && k < 3) continue; // a difference in the rotation would leave the branch without one
        numbers one{all[k < 11 ? c + k : k < 14 ? p + k - 11 : i]};
        for (bool const is_x : {true, false})
          check_by_differences(
              "bundle adjustment", one, view(is_x ? &slopes_[i].x[k] : &slopes_[i].y[k], 1), [&] {
                std::swap(one[0], all[k < 11 ? c + k : k < 14 ? p + k - 11 : i]);
                primal();
                std::swap(one[0], all[k < 11 ? c + k : k < 14 ? p + k - 11 : i]);
                return errors_[3 * i + (is_x ? 0 : 1)];
              });
      }
  }

private:
  static void check_row(double const (&by_hand)[observation_size], auto const& found, i64 at) {
    std::apply(
        [&](auto const&... slopes) {
          std::size_t k = 0;
          (check("bundle adjustment", by_hand[k++], slopes[at]), ...);
        },
        found);
  }

  numbers cameras_ = between(-0.5, 0.5, cameras*camera_size), points_ = between(-2, 2, points*point_size),
          weights_ = between(0.5, 1.5, observations), features_ = between(-100, 100, 2 * observations),
          errors_ = numbers(3 * observations);
  std::vector<i64> of_camera_ = std::vector<i64>(observations), of_point_ = std::vector<i64>(observations);
  std::vector<observation_slopes> slopes_ = std::vector<observation_slopes>(observations);
};

void bundle_adjustment() {
  using A = array<double>;
  adjustment_example e;
  auto const compiled = overdub::compile(
      overdub::compose(), adjustment, overdub::signature<A, A, A, A, array<i64>, array<i64>>,
      machine_code_now());
  e.check_all(e.by(compiled));
  compare<allocating::allowed>(
      "the Jacobian of bundle adjustment, 4,000 observations",
      way{"the Jacobian by hand", 0, [&] { return e.by_hand(); }},
      way{"compiled", 1.25, [&] { return e.by(compiled); }},
      way{"the errors by hand", 0, [&] { return e.primal(); }});
}

// ---- LSTM

void recurrent_network() {
  constexpr std::size_t b = 14, rows = 1024;
  using A = array<double>;
  char const* const what = "the gradient of an LSTM, two layers of 14, 1,024 rows";
  numbers parameters = between(-1, 1, 16 * b), others = between(-1, 1, 3 * b), state(4 * b), row(b);
  numbers const start = between(-0.5, 0.5, 4 * b), sequence = between(0, 1, rows * b);
  lstm_adjoint adjoint(b, rows);
  auto const compiled = machine_code<i64, i64, A, A, A, A>(value_and_gradient<2, 3>(lstm));
  auto const primal = [&] {
    state = start;
    forget_memory();
    return lstm_by_hand<double>(opaque(b), opaque(rows), parameters, others, state, row, sequence);
  };
  auto const by_hand = [&] {
    forget_memory();
    return adjoint(opaque(b), opaque(rows), parameters.data(), others.data(), start.data(), sequence.data());
  };
  auto const all = [&] {
    forget_memory();
    return compiled(
        i64{b}, i64{rows}, borrowed(parameters), borrowed(others), borrowed(start), borrowed(sequence));
  };
  auto const [value, slopes] = all();
  check(what, by_hand(), value);
  check(what, primal(), value);
  check(what, adjoint.by_parameters, std::get<0>(slopes));
  check(what, adjoint.by_others, std::get<1>(slopes));
  check_by_differences(what, parameters, adjoint.by_parameters, primal);
  check_by_differences(what, others, adjoint.by_others, primal);
  compare<allocating::allowed>(
      what, way{"the gradient by hand", 0, by_hand}, way{"compiled", 1.25, all},
      way{"the function by hand", 0, primal});
}

// ---- the others

void logarithm_of_exponentials() {
  constexpr std::size_t n = 10'000;
  char const* const what = "the gradient of log(sum(exp(x))), 10,000 numbers";
  numbers x = between(-3, 3, n), by_x(n);
  auto const compiled = machine_code<array<double>>(value_and_gradient(log_sum_exp));
  auto const primal = [&] {
    forget_memory();
    return log_sum_exp_by_hand<double>(x);
  };
  auto const by_hand = [&] {
    forget_memory();
    return log_sum_exp_adjoint(x, by_x);
  };
  auto const all = [&] {
    forget_memory();
    return compiled(borrowed(x));
  };
  check(what, by_hand(), all().first);
  check(what, by_x, all().second);
  check_by_differences(what, x, by_x, primal);
  compare<allocating::allowed>(
      what, way{"the gradient by hand", 0, by_hand}, way{"compiled", 1.25, all},
      way{"the function by hand", 0, primal});
}

void linear_least_squares() {
  constexpr std::size_t n = 1024, m = 32;
  char const* const what = "the gradient of linear least squares, 32 coefficients, 1,024 points";
  numbers x = between(-1, 1, m), by_x(m), powers(m);
  auto const compiled = machine_code<array<double>, i64>(value_and_gradient<0>(least_squares));
  auto const primal = [&] {
    forget_memory();
    return least_squares_by_hand<double>(x, opaque(n));
  };
  auto const by_hand = [&] {
    forget_memory();
    return least_squares_adjoint(x, opaque(n), by_x, powers);
  };
  auto const all = [&] {
    forget_memory();
    return compiled(borrowed(x), opaque(i64{n}));
  };
  check(what, by_hand(), all().first);
  check(what, by_x, all().second);
  check_by_differences(what, x, by_x, primal);
  compare<allocating::allowed>(
      what, way{"the gradient by hand", 0, by_hand}, way{"compiled", 1.25, all},
      way{"the function by hand", 0, primal});
}

} // namespace

int main() {
  for (auto const question :
       {bundle_adjustment, recurrent_network, logarithm_of_exponentials, linear_least_squares})
    try {
      question();
    } catch (overdub::error const& e) {
      ++misses;
      std::printf("MISS: %s\n", e.what());
    }
  return misses > 0;
}
