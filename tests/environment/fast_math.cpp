// Compiled with a flag that lets the compiler assume finite numbers or reassociate: NaN and infinity are detected, and compensated
// sums keep their compensation. It returns the number of failed expectations.
#include <overdub/contexts/check_finite.hpp>
#include <overdub/distributions.hpp>
#include <overdub/incremental/compensated_sum.hpp>
#include <overdub/inference.hpp>
#if __has_include(<Eigen/Cholesky>) || __has_include(<eigen3/Eigen/Cholesky>)
#define OVERDUB_TEST_EIGEN
#include <overdub/inference/dense_metric.hpp>
#endif
#include <overdub/contexts/log.hpp>
#include <overdub/implementation/ir/literal.hpp>
#include <overdub/overdub.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace od = overdub;
namespace ds = overdub::distributions;
namespace inference = overdub::inference;

inline constexpr auto log_half = od::fn<"log_half">([](auto x) { return log(x) * 0.5; });
inline constexpr auto quotient = od::fn<"quotient">([](auto x, auto y) { return x / y; });

namespace {
int failures = 0;

void expect(bool holds, char const* what) {
  if (holds) return;
  ++failures;
  std::printf("failed: %s\n", what);
}

template <class Error, class F>
bool throws(F const& f) {
  try {
    f();
  } catch (Error const&) {
    return true;
  }
  return false;
}

struct standard_normal {
  std::size_t dimension() const { return 1; }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    gradient[0] = -q[0];
    return -0.5 * q[0] * q[0];
  }
};

// Whether sample rejects the settings before it draws.
bool refused(inference::sampling_settings settings, inference::hmc_settings const& algorithm = {}) {
  settings.chains = 1;
  settings.draws = 1;
  settings.warmup = 1;
  try {
    (void)inference::sample(standard_normal{}, settings, algorithm);
  } catch (inference::sampling_error const&) {
  } catch (inference::inference_error const&) {
    return true;
  }
  return false;
}

void expect_settings_refused(double undefined, double infinite) {
  using inference::inference_error;
  expect(!refused({}), "default settings are right");
  expect(refused({.initial_radius = undefined}), "initial_radius is no NaN");
  expect(refused({.initial = {{undefined}}}), "a chain begins at no NaN");
  expect(refused({.step_size = undefined}), "step_size is no NaN");
  expect(refused({.inverse_metric = {undefined}}), "inverse_metric is no NaN");
  expect(refused({.adaptation = {.target_acceptance = undefined}}), "target_acceptance is no NaN");
  expect(refused({.adaptation = {.target_acceptance = infinite}}), "target_acceptance is finite");
  expect(refused({.adaptation = {.gamma = undefined}}), "gamma is no NaN");
  expect(refused({.adaptation = {.kappa = undefined}}), "kappa is no NaN");
  expect(refused({.adaptation = {.t0 = undefined}}), "t0 is no NaN");
  expect(refused({}, {.jitter = undefined}), "jitter is no NaN");

#ifdef OVERDUB_TEST_EIGEN
  for (double const x : {undefined, infinite})
    expect(
        throws<inference_error>([&] { inference::dense_metric(1, std::vector{x}); }),
        "a dense metric is finite");
#endif

  od::random_key const key(1);
  auto const start = [](od::random_key const&) { return 0.0; };
  auto const extend = [](double&, std::size_t, od::random_key const&) { return 0.0; };
  for (double const part : {undefined, infinite})
    expect(
        throws<inference_error>([&] {
          (void)inference::particle_filter(start, extend, 1, {.particles = 2, .resample_below = part}, key);
        }),
        "resample_below is from 0 to 1");
  expect(
      throws<inference_error>([&] {
        (void)inference::approximate(standard_normal{}, {.iterations = 1, .tolerance = undefined}, key);
      }),
      "tolerance is no NaN");
  expect(
      throws<inference_error>([&] {
        (void)inference::approximate(standard_normal{}, {.iterations = 1, .initial = {undefined}}, key);
      }),
      "an approximation begins at no NaN");
  expect(throws<inference_error>([&] { inference::mean_field({undefined}, {1}); }), "a mean is no NaN");
  expect(throws<inference_error>([&] { inference::mean_field({0}, {infinite}); }), "a deviation is finite");
  auto const prior = [](od::random_key const&) { return std::vector{0.0}; };
  auto const data = [](std::vector<double> const&, od::random_key const&) { return 0.0; };
  auto const posterior = [](double, od::random_key const&, std::size_t n) {
    return std::vector<std::vector<double>>(n, {0.0});
  };
  expect(
      throws<inference_error>([&] {
        (void)inference::simulation_based_calibration(
            prior, data, posterior, {.simulations = 10, .draws = 1, .bins = 2, .false_alarm = undefined},
            key);
      }),
      "false_alarm is no NaN");
}

// The sign of a NaN is unspecified.
void expect_texts(double undefined, float undefined_float) {
  expect(ds::detail::text_of(undefined) == "nan", "a parameter that is NaN is called so");
  for (double const x : {undefined, -undefined}) {
    std::ostringstream out;
    od::run(od::contexts::log(out), log_half, x);
    expect(out.str().find("log(nan) = nan") != std::string::npos, "log calls a NaN nan");
  }
  std::string text;
  od::ir::detail::append_floating<double>(text, std::bit_cast<std::uint64_t>(undefined));
  od::ir::detail::append_floating<float>(text, std::bit_cast<std::uint32_t>(undefined_float));
  expect(text == "nannanf32", "NaN in the text of a program");
}
} // namespace

int main(int argc, char**) {
  // The compiler knows neither argc nor the values that are read.
  double const one = argc, zero = argc - 1, infinite = one / zero, undefined = std::strtod("nan", nullptr);

  expect(
      od::is_infinite(infinite) && !od::is_nan(infinite) && !od::is_finite(infinite), "infinity is infinite");
  expect(od::is_nan(undefined) && !od::is_infinite(undefined) && !od::is_finite(undefined), "NaN is NaN");
  expect(od::is_finite(one) && !od::is_nan(one) && !od::is_infinite(-one), "1 is finite");
  float const infinite_float = static_cast<float>(infinite), undefined_float = static_cast<float>(undefined);
  expect(od::is_infinite(-infinite_float) && od::is_nan(undefined_float), "of single precision, too");

  using od::contexts::check_finite;
  expect(
      throws<od::error>([&] { od::run(check_finite{}, log_half, -one); }), "check_finite stops at log(-1)");
  expect(
      throws<od::error>([&] { od::run(check_finite{}, quotient, one, zero); }),
      "check_finite stops at 1 / 0");
  expect(
      !throws<od::error>([&] { od::run(check_finite{}, quotient, one, one); }),
      "check_finite lets 1 / 1 through");

  expect(throws<ds::parameter_error>([&] { ds::check(ds::normal(infinite, one)); }), "a mean is finite");
  expect(throws<ds::parameter_error>([&] { ds::check(ds::normal(undefined, one)); }), "a mean is no NaN");
  expect(
      throws<ds::parameter_error>([&] { ds::check(ds::normal(zero, undefined)); }), "a deviation is no NaN");
  expect(throws<ds::parameter_error>([&] { ds::check(ds::gamma(infinite, one)); }), "a shape is finite");
  expect(
      throws<ds::parameter_error>([&] { ds::check(ds::beta(one, infinite)); }),
      "a parameter of beta is finite");
  expect(throws<ds::parameter_error>([&] { ds::check(ds::uniform(zero, infinite)); }), "a bound is finite");
  expect(!throws<ds::parameter_error>([&] { ds::check(ds::normal(zero, one)); }), "normal(0, 1) is right");
  expect(
      throws<ds::parameter_error>([&] {
        ds::check(ds::categorical(od::array{one, undefined, one}));
      }),
      "a weight is no NaN");

  expect_settings_refused(undefined, infinite);
  expect_texts(undefined, undefined_float);

  // 2^53 + 1 is not a double: its rounding error is 1.
  auto const [sum, lost] = od::increments::two_sum(0x1p53 * one, one);
  expect(sum == 0x1p53 && lost == 1, "the rest of a sum is not reassociated away");
  return failures;
}
