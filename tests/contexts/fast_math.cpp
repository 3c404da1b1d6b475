#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fast_math.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/ir/print.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace od = overdub;
using overdub::contexts::count;
using overdub::contexts::fast_math;
using overdub::contexts::forward;

namespace {

constexpr auto sine = od::fn<"sine">([](auto x) { return sin(x); });
constexpr auto cosine = od::fn<"cosine">([](auto x) { return cos(x); });
constexpr auto exponential = od::fn<"exponential">([](auto x) { return exp(x); });
constexpr auto slope = od::fn<"slope">([](auto x) { return tan(x); });
constexpr auto tangent = od::fn<"tangent">([](auto x) { return tanh(x); });

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class F>
auto fast(F const& f, double x) {
  fast_math context;
  return od::run(context, f, x);
}
template <class F>
double fast_derivative(F const& f, double x) {
  return od::run(od::compose(fast_math{}, forward{}), f, od::tag(x, 1.0)).metadata;
}

// The largest error(x) on a grid and on random points of [low, high].
template <class Error>
double largest(Error const& error, double low, double high) {
  constexpr int n = 40000;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> anywhere(low, high);
  double most = 0;
  auto meet = [&](double x) {
    double const e = error(x);
    if (!(e <= most)) most = e; // counts NaN as a large error
  };
  for (int i = 0; i <= n; ++i) meet(low + (high - low) * i / n), meet(anywhere(random));
  return most;
}

} // namespace

TEST_CASE("fast_math: sin and cos are within 1e-10 up to |x| = 1e5, also at multiples of pi/2") {
  auto const of_sin = [](double x) { return std::abs(fast(sine, x) - std::sin(x)); };
  auto const of_cos = [](double x) { return std::abs(fast(cosine, x) - std::cos(x)); };
  for (double range : {1e-3, 1.0, 4.0, 100.0, 1e5}) {
    CHECK(largest(of_sin, -range, range) < 1e-10);
    CHECK(largest(of_cos, -range, range) < 1e-10);
  }
  for (int k = -60000; k <= 60000; ++k)
    for (double x : {k * 1.5707963267948966, std::nextafter(k * 1.5707963267948966, inf)})
      if (std::abs(x) <= 1e5 && !(of_sin(x) < 1e-10 && of_cos(x) < 1e-10)) FAIL_CHECK(x);
}

TEST_CASE(
    "fast_math: tan(x) is the tangent of a number within 1e-10 of x, up to |x| = 1e5, also near the poles") {
  // The distance of the argument that has this tangent: at a pole, infinity and its negative are equal.
  auto const error = [](double x) {
    double const distance = std::abs(std::atan(fast(slope, x)) - std::atan(std::tan(x)));
    return std::min(distance, 3.141592653589793 - distance);
  };
  for (double range : {1e-3, 1.0, 1.57, 4.0, 100.0, 1e5}) CHECK(largest(error, -range, range) < 1e-10);
  for (int k = -60000; k <= 60000; ++k)
    for (double d : {0.0, 1e-15, -1e-12, 1e-9, -1e-6, 1e-3})
      if (double const x = k * 1.5707963267948966 + d; std::abs(x) <= 1e5 && !(error(x) < 1e-10))
        FAIL_CHECK(x);
  CHECK(largest([](double x) { return std::abs(fast(slope, x) / std::tan(x) - 1); }, 1e-8, 1.5) < 1e-9);
  CHECK((std::isnan(fast(slope, inf)) && std::isnan(fast(slope, not_a_number)) && fast(slope, 0.0) == 0.0));
}

TEST_CASE("fast_math: exp has a relative error of 1e-10 wherever the result is a normal number") {
  auto const error = [](double x) { return std::abs(fast(exponential, x) / std::exp(x) - 1); };
  CHECK(largest(error, -708.39, 709.782) < 1e-10);
  CHECK(largest(error, -1, 1) < 1e-10);
  CHECK(largest(error, -1e-9, 1e-9) < 1e-10);
}

TEST_CASE("fast_math: exp decreases to 0 through the subnormal numbers, and overflows where std::exp does") {
  for (double x = -750; x < -708; x += 0.01)
    if (!(std::abs(fast(exponential, x) - std::exp(x)) <= 5e-324 + 1e-10 * std::exp(x))) FAIL_CHECK(x);
  for (double x : {-746.0, -800.0, -1e10, -1.7e308, -inf}) CHECK(fast(exponential, x) == 0.0);
  CHECK(fast(exponential, 709.78) < inf);
  for (double x : {709.79, 710.0, 711.0, 1e10, 1.7e308, inf}) CHECK(fast(exponential, x) == inf);
}

TEST_CASE("fast_math: tanh is within 1e-10, everywhere") {
  auto const error = [](double x) { return std::abs(fast(tangent, x) - std::tanh(x)); };
  for (double range : {1e-6, 1.0, 30.0, 1000.0, 1e300}) CHECK(largest(error, -range, range) < 1e-10);
  CHECK((fast(tangent, inf) == 1.0 && fast(tangent, -inf) == -1.0));
}

TEST_CASE("fast_math: the results of NaN and of infinite angles are NaN, and zeros of both signs are zeros") {
  CHECK((std::isnan(fast(sine, not_a_number)) && std::isnan(fast(cosine, not_a_number))));
  CHECK((std::isnan(fast(exponential, not_a_number)) && std::isnan(fast(tangent, not_a_number))));
  for (double x : {inf, -inf}) CHECK((std::isnan(fast(sine, x)) && std::isnan(fast(cosine, x))));
  for (double x : {0.0, -0.0}) {
    CHECK((fast(sine, x) == 0.0 && std::abs(fast(cosine, x) - 1.0) < 1e-10));
    CHECK((std::abs(fast(tangent, x)) < 1e-10 && std::abs(fast(exponential, x) - 1.0) < 1e-10));
  }
}

TEST_CASE("fast_math does not change functions of floats and integers, nor other functions") {
  auto const f = od::fn<"f">([](auto x) { return od::sin(x) + od::cos(x) * od::exp(x) - od::tanh(x); });
  auto const g = od::fn<"g">([](auto x) { return od::log(x) + od::sqrt(x) + x * x; });
  fast_math context;
  for (float x : {-3.5f, -0.0f, 0.1f, 2.0f, 80.0f}) CHECK(od::run(context, f, x) == f(x));
  auto const h = od::fn<"h">([](auto x) { return abs(x) * x - x; });
  for (int x : {-3, 0, 1, 7}) CHECK(od::run(context, h, x) == h(x));
  for (double x : {0.1, 2.0, 1e300}) CHECK(od::run(context, g, x) == g(x));
}

TEST_CASE("fast_math replaces the functions: the next context does not observe them") {
  overdub::contexts::count_of<od::sin_t, od::exp_t, od::fn_t<"sine", decltype(sine.body)>> c;
  auto const f = od::fn<"f">([](auto x) { return sine(x) + exp(x); });
  od::run(od::compose(fast_math{}, c), f, 1.0);
  CHECK((c(od::sin) == 0 && c(od::exp) == 0 && c(sine) == 1));
}

TEST_CASE("compose(fast_math, forward) differentiates the polynomials, close to the derivatives") {
  auto const of_sin = [](double x) { return std::abs(fast_derivative(sine, x) - std::cos(x)); };
  auto const of_cos = [](double x) { return std::abs(fast_derivative(cosine, x) + std::sin(x)); };
  auto const of_tanh = [](double x) {
    return std::abs(fast_derivative(tangent, x) - (1 - std::tanh(x) * std::tanh(x)));
  };
  CHECK(largest(of_sin, -1000, 1000) < 1e-8);
  CHECK(largest(of_cos, -1000, 1000) < 1e-8);
  auto const of_tan = [](double x) {
    double const t = std::tan(x);
    return std::abs(fast_derivative(slope, x) - (1 + t * t)) / ((1 + t * t) * (1 + std::abs(t)));
  };
  CHECK(largest(of_tan, -1000, 1000) < 1e-8);
  CHECK(largest(of_tanh, -100, 100) < 1e-8);
  CHECK(largest(of_tanh, -1000, 1000) < 1e-8);
}

TEST_CASE(
    "compose(fast_math, forward): the derivative of exp has a small relative error from 1e-300 to 1e300") {
  auto const error = [](double x) { return std::abs(fast_derivative(exponential, x) / std::exp(x) - 1); };
  CHECK(largest(error, -690, 690) < 1e-7);
  CHECK(largest(error, 690, 709.7) < 1e-7);
}

TEST_CASE("compose(forward, fast_math) computes the exact derivatives by the fast functions") {
  auto const f = od::fn<"f">([](auto x) { return sin(x) * exp(x); });
  for (double x = -3; x < 3; x += 0.01) {
    auto const r = od::run(od::compose(forward{}, fast_math{}), f, od::tag(x, 1.0));
    CHECK(r.inner == Approx(std::sin(x) * std::exp(x)).margin(1e-8));
    CHECK(r.metadata == Approx((std::sin(x) + std::cos(x)) * std::exp(x)).margin(1e-8));
  }
}

TEST_CASE("fast_math works on the elements of arrays, in branches and in loops") {
  auto const f = od::fn<"f">([](auto xs) {
    auto const sines = od::map(od::sin, xs);
    return od::loop(3, od::sum(sines), [](auto, auto s) { return exp(-s * s); });
  });
  fast_math context;
  od::array<double> const xs{0.1, 2.0, -7.5, 100.0};
  CHECK(od::run(context, f, xs) == Approx(f(xs)).epsilon(1e-8));
  CHECK(od::run(context, f, xs) != f(xs));
}

TEST_CASE(
    "fast_math: a staged program contains the polynomials, and its compiled results equal direct runs") {
  fast_math context;
  auto const f = od::fn<"f">([](auto x) { return sin(x) * exp(x) + tan(x) - cos(x) * tanh(x); });
  std::string const text = od::ir::print(od::stage(context, f, od::signature<double>));
  for (char const* name : {" sin ", " cos ", " tan ", " exp ", " tanh "})
    CHECK(text.find(name) == std::string::npos);
  auto const g = od::compile(context, f, od::signature<double>);
  auto const h = od::compile(od::compose(context, forward{}), f, od::signature<od::tagged<double, double>>);
  for (double x : {-20.0, -0.3, 0.0, 1.0, 5.5, 600.0}) {
    CHECK(g(x) == od::run(context, f, x));
    CHECK(
        h(od::tag(x, 1.0)).metadata == od::run(od::compose(context, forward{}), f, od::tag(x, 1.0)).metadata);
  }
}
