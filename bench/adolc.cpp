// Gradients compiled by overdub against those of ADOL-C, an operator-overloading library. ADOL-C records each function once on a tape in
// memory and replays the tape for each gradient, which is its fastest mode; the tape holds the branches of the point at which it was
// recorded. The gradients of overdub evaluate the branches at each point.
#include "adbench_models.hpp"
#include "gradient.hpp"
#include "models.hpp"
#include "ratio.hpp"

#include <adolc/adolc.h>
#include <utility>
#include <vector>

namespace {

using namespace bench;
using active = std::vector<adouble>;

// A function recorded on a tape, and its gradient at the point of the recording.
class taped {
public:
  // `f` receives the independent variables.
  template <class F>
  taped(numbers x, F const& f) : x_(std::move(x)), slopes_(x_.size()), tag_(next_++) {
    constexpr unsigned buffer = 1u << 26; // large enough that ADOL-C writes no files
    trace_on(tag_, 0, buffer, buffer, buffer, buffer);
    active on_tape(x_.size());
    for (std::size_t i = 0; i < x_.size(); ++i) on_tape[i] <<= x_[i];
    adouble y = f(std::span<adouble const>(on_tape));
    double value = 0;
    y >>= value;
    trace_off();
  }
  numbers const& operator()() {
    forget_memory();
    ::gradient(tag_, static_cast<int>(x_.size()), x_.data(), slopes_.data());
    return slopes_;
  }

private:
  numbers x_, slopes_;
  short tag_;
  static inline short next_ = 1;
};

numbers joined(std::initializer_list<view> parts) {
  numbers all;
  for (view const part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}
void check_all(char const* what, view expected, std::initializer_list<array<double>> found) {
  numbers all;
  for (array<double> const& part : found) all.insert(all.end(), part.begin(), part.end());
  check(what, expected, all);
}
template <class Run>
void against(char const* what, taped& tape, Run const& run) {
  compare<allocating::allowed>(
      what, way{"ADOL-C", 0, [&] { return tape().data(); }}, way{"compiled", 0.2, run});
}

void swing() {
  char const* const what = "the gradient of a damped pendulum, 1,000 steps";
  taped tape({1.0, 0.5, 0.1}, [](auto x) { return pendulum_by_hand<adouble>(1000, x[0], x[1], x[2]); });
  auto const compiled = machine_code<i64, double, double, double>(value_and_gradient<1, 2, 3>(pendulum));
  auto const run = [&] { return compiled(i64{1000}, opaque(1.0), 0.5, 0.1); };
  auto const [angle, speed, friction] = run().second;
  check(what, tape(), numbers{angle, speed, friction});
  against(what, tape, run);
}

template <class F, class Taped>
void of_array(char const* what, numbers const& x, F const& f, Taped const& on_tape) {
  taped tape(x, on_tape);
  auto const compiled = machine_code<array<double>>(value_and_gradient(f));
  auto const run = [&] {
    forget_memory();
    return compiled(borrowed(x));
  };
  check(what, tape(), run().second);
  against(what, tape, run);
}

void gaussian_mixture() {
  using A = array<double>;
  mixture_example const e;
  constexpr std::size_t d = mixture_example::d, k = mixture_example::k;
  std::string const what = "the gradient of " + e.name;
  taped tape(joined({e.weights, e.means, e.diagonals, e.factors}), [&](auto x) {
    active scales(k * d), traces(k), terms(k);
    return mixture_by_hand<adouble>(
        d, k, e.n, x.subspan(0, k), x.subspan(k, k * d), x.subspan(k + k * d, k * d),
        x.subspan(k + 2 * k * d), e.points, scales, traces, terms, in_order);
  });
  auto const compiled = machine_code<i64, i64, i64, A, A, A, A, A>(value_and_gradient<3, 4, 5, 6>(mixture));
  auto const run = [&] {
    forget_memory();
    return compiled(
        i64{d}, i64{k}, static_cast<i64>(e.n), borrowed(e.weights), borrowed(e.means), borrowed(e.diagonals),
        borrowed(e.factors), borrowed(e.points));
  };
  auto const [weights, means, diagonals, factors] = run().second;
  check_all(what.c_str(), tape(), {weights, means, diagonals, factors});
  against(what.c_str(), tape, run);
}

void recurrent_network() {
  using A = array<double>;
  constexpr std::size_t b = 14, rows = 1024;
  char const* const what = "the gradient of an LSTM, two layers of 14, 1,024 rows";
  numbers const parameters = between(-1, 1, 16 * b), others = between(-1, 1, 3 * b),
                start = between(-0.5, 0.5, 4 * b), sequence = between(0, 1, rows * b);
  taped tape(joined({parameters, others}), [&](auto x) {
    active state(start.begin(), start.end()), row(b);
    return lstm_by_hand<adouble>(b, rows, x.subspan(0, 16 * b), x.subspan(16 * b), state, row, sequence);
  });
  auto const compiled = machine_code<i64, i64, A, A, A, A>(value_and_gradient<2, 3>(lstm));
  auto const run = [&] {
    forget_memory();
    return compiled(
        i64{b}, i64{rows}, borrowed(parameters), borrowed(others), borrowed(start), borrowed(sequence));
  };
  auto const [by_parameters, by_others] = run().second;
  check_all(what, tape(), {by_parameters, by_others});
  against(what, tape, run);
}

void linear_least_squares() {
  constexpr std::size_t n = 1024;
  char const* const what = "the gradient of linear least squares, 32 coefficients, 1,024 points";
  numbers const x = between(-1, 1, 32);
  taped tape(x, [](auto on_tape) { return least_squares_by_hand<adouble>(on_tape, n); });
  auto const compiled = machine_code<array<double>, i64>(value_and_gradient<0>(least_squares));
  auto const run = [&] {
    forget_memory();
    return compiled(borrowed(x), opaque(i64{n}));
  };
  check(what, tape(), run().second);
  against(what, tape, run);
}

void loops() {
  of_array("the gradient of a loop with branches, 1,000 numbers", between(-1, 1, 1000), branchy, [](auto x) {
    return branchy_by_hand<adouble>(x);
  });
  of_array("the gradient of rosenbrock, 100 numbers", between(-1, 1, 100), rosenbrock, [](auto x) {
    return rosenbrock_by_hand<adouble>(x);
  });
  of_array(
      "the gradient of log(sum(exp(x))), 10,000 numbers", between(-3, 3, 10'000), log_sum_exp,
      [](auto x) { return log_sum_exp_by_hand<adouble>(x); });
}

} // namespace

int main() {
  for (auto const question : {swing, loops, gaussian_mixture, recurrent_network, linear_least_squares}) try {
      question();
    } catch (overdub::error const& e) {
      ++misses;
      std::printf("MISS: %s\n", e.what());
    }
  return misses > 0;
}
