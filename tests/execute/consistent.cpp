// The consistent mode: its functions give the same bits in scalars and in vectors, close to the true values; programs are
// rejected with a diagnostic if the functions are not linked.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/consistent.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/stage/evaluate_data.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace overdub;

std::string const wave = R"(
math consistent
entry @wave
func @wave(%x: f64) -> f64 {
  %y = sin %x : f64
  return %y
}
)";

} // namespace

TEST_CASE("programs of consistent mathematics are rejected without SLEEF's functions") {
  auto const* const kept = std::exchange(ir::consistent, nullptr);
  ir::program const p = ir::parse(wave);
  std::string refused, not_evaluated;
  try {
    (void)executable(p);
  } catch (not_executable const& e) {
    refused = e.what();
  }
  try {
    (void)evaluate(p, std::vector<datum>{datum(1.0)});
  } catch (evaluation_error const& e) {
    not_evaluated = e.what();
  }
  ir::consistent = kept;
  CHECK(
      refused ==
      "overdub: @wave cannot be interpreted: its mathematics are consistent, and that takes the functions of "
      "SLEEF; link the component overdub::sleef, or set program::math to exact");
  CHECK(
      not_evaluated == "overdub: evaluate: the program cannot be run: its mathematics are consistent, and "
                       "that takes the functions of "
                       "SLEEF; link the component overdub::sleef, or set program::math to exact");
}

#if OVERDUB_TESTS_SLEEF

namespace {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
bool same(T a, T b) {
  return (a != a && b != b) || std::bit_cast<bits_of<T>>(a) == std::bit_cast<bits_of<T>>(b);
}

// All kinds of numbers: small ones, large ones, and typical ones.
template <class T>
std::vector<T> numbers(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<T> all{
      T{0},
      -T{0},
      T{1},
      -T{1},
      std::numeric_limits<T>::infinity(),
      -std::numeric_limits<T>::infinity(),
      std::numeric_limits<T>::quiet_NaN(),
      std::numeric_limits<T>::denorm_min(),
      std::numeric_limits<T>::max(),
      std::numeric_limits<T>::lowest()};
  while (all.size() < count) {
    std::uint64_t const x = random();
    double const unit = static_cast<double>(static_cast<std::int64_t>(x)) * 0x1p-63;
    double const scale[] = {1, 20, 700};
    all.push_back(
        x % 4 == 0 ? std::bit_cast<T>(static_cast<bits_of<T>>(random()))
                   : static_cast<T>(unit * scale[x % 4 - 1]));
  }
  return all;
}

template <class T>
void many_are_as_one() {
  std::size_t const count = 40'003;
  auto const x = numbers<T>(1, count), y = numbers<T>(2, count);
  auto const& all = ir::consistent->of<T>();
  for (std::size_t i = 0; i < ir::op_count; ++i) {
    if (!ir::is_elementary(static_cast<ir::op>(i))) continue;
    INFO(ir::name_of(static_cast<ir::op>(i)) << " of " << sizeof(T) << " bytes");
    std::vector<T> out(count);
    std::size_t different = 0;
    if (all.one[i] != nullptr) {
      all.many_of_one[i](x.data(), out.data(), static_cast<std::int64_t>(count));
      for (std::size_t k = 0; k < count; ++k) different += !same(out[k], all.one[i](x[k]));
    } else {
      REQUIRE(all.two[i] != nullptr);
      all.many_of_two[i](x.data(), y.data(), out.data(), static_cast<std::int64_t>(count));
      for (std::size_t k = 0; k < count; ++k) different += !same(out[k], all.two[i](x[k], y[k]));
    }
    CHECK(different == 0);
  }
}

// The true value, with more digits than T has.
template <class W>
W true_value(ir::op code, W x, W y) {
  switch (code) {
#define OVERDUB_ELEMENTARY1(NAME, ...)                                                                       \
  case ir::op::NAME:                                                                                         \
    return std::NAME(x);
#define OVERDUB_ELEMENTARY1_WITHIN(NAME, ...) OVERDUB_ELEMENTARY1(NAME, )
#define OVERDUB_ELEMENTARY2(NAME, ...)                                                                       \
  case ir::op::NAME:                                                                                         \
    return std::NAME(x, y);
#include <overdub/ir/elementary.def>
  default:
    return 0;
  }
}
// The error of a result, in units in its last place.
template <class T, class W>
double distance(T given, W expected) {
  using limits = std::numeric_limits<T>;
  if (given != given || expected != expected) return (given != given) == (expected != expected) ? 0 : 1e9;
  T const nearest = static_cast<T>(expected);
  if (given == nearest) return 0;
  if (std::isinf(given)) return 1e9;
  int exponent = 0;
  (void)std::frexp(expected, &exponent);
  exponent = std::max(exponent - limits::digits, limits::min_exponent - limits::digits);
  return static_cast<double>(std::abs(static_cast<W>(given) - expected) / std::ldexp(W{1}, exponent));
}

template <class T, class W>
void close_to_true_values() {
  std::size_t const count = 40'000;
  auto const x = numbers<T>(3, count), y = numbers<T>(4, count);
  auto const& all = ir::consistent->of<T>();
  for (std::size_t i = 0; i < ir::op_count; ++i) {
    auto const code = static_cast<ir::op>(i);
    if (!ir::is_elementary(code)) continue;
    // SLEEF guarantees 1 unit, 1.5 for erfc, and less for the smallest numbers; the host's functions, which replace
    // SLEEF's where these are wrong, have slightly larger errors, and tgamma and lgamma up to 10.
    double const most = code == ir::op::erfc                               ? 1.5
                        : code == ir::op::tgamma || code == ir::op::lgamma ? 10
                                                                           : 1.03;
    double worst = 0;
    T at = 0, other = 0;
    for (std::size_t k = 0; k < count; ++k) {
      T const given = all.one[i] != nullptr ? all.one[i](x[k]) : all.two[i](x[k], y[k]);
      W const expected = true_value(code, static_cast<W>(x[k]), static_cast<W>(y[k]));
      double d = distance<T, W>(given, expected);
      if (std::abs(expected) < 4 * static_cast<W>(std::numeric_limits<T>::min()) && d <= 2) d = 0;
      if (d > worst) {
        worst = d;
        at = x[k];
        other = y[k];
      }
    }
    INFO(ir::name_of(code) << " of " << sizeof(T) << " bytes at " << at << ", " << other);
    CHECK(worst <= most);
  }
}

} // namespace

TEST_CASE("a function of the consistent mode has the same bits in scalars and in vectors") {
  many_are_as_one<double>();
  many_are_as_one<float>();
}

TEST_CASE("functions of the consistent mode have an error of at most one unit in the last place") {
  close_to_true_values<float, double>();
  if (std::numeric_limits<long double>::digits >= 64) close_to_true_values<double, long double>();
}

TEST_CASE("functions of the consistent mode are finite up to the largest number") {
  auto const& all = ir::consistent->f64;
  auto const exp = static_cast<std::size_t>(ir::op::exp), pow = static_cast<std::size_t>(ir::op::pow);
  double const largest = std::numeric_limits<double>::max(),
               infinity = std::numeric_limits<double>::infinity();
  std::vector<double> const x{709.7827115, 709.78271289338397, 709.7827128933842, 1.0, infinity};
  std::vector<double> many(x.size());
  all.many_of_one[exp](x.data(), many.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO(x[i]);
    CHECK(all.one[exp](x[i]) == Approx(std::exp(x[i])).epsilon(1e-15));
    CHECK(same(many[i], all.one[exp](x[i])));
  }
  std::vector<double> const base{largest, -largest, largest, 2.0, 10.0, 0.0},
      power{1.0, 1.0, 0.99999999999999989, 1023.99999999999, 309.0, -1.0};
  std::vector<double> powers(base.size());
  all.many_of_two[pow](base.data(), power.data(), powers.data(), static_cast<std::int64_t>(base.size()));
  for (std::size_t i = 0; i < base.size(); ++i) {
    INFO(base[i] << " to " << power[i]);
    CHECK(all.two[pow](base[i], power[i]) == Approx(std::pow(base[i], power[i])).epsilon(1e-15));
    CHECK(same(powers[i], all.two[pow](base[i], power[i])));
  }
}

TEST_CASE("the functions of the exact mode are the host's") {
  ir::program p = ir::parse(wave);
  double const consistent = executable(p).run(std::vector<datum>{datum(1e22)})[0].as<double>();
  CHECK(same(consistent, ir::consistent->f64.one[static_cast<std::size_t>(ir::op::sin)](1e22)));
  p.math = ir::math_mode::exact;
  CHECK(same(executable(p).run(std::vector<datum>{datum(1e22)})[0].as<double>(), std::sin(1e22)));
}
#endif
