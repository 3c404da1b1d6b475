// The oracle of derivatives: it accepts every row of the table of operations, and detects errors.
#include "catch.hpp"
#include "property.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/contexts/profile/allocations.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/special.hpp>
#include <overdub/test_derivative.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace overdub;

derivative_test counting() {
  derivative_test how;
  if (contexts::counts_allocations) how.allocations = &contexts::allocations_of_thread;
  return how;
}
bool finds(derivative_report const& r, std::string const& what) {
  for (std::string const& each : r.failures)
    if (each.find(what) != std::string::npos) return true;
  return false;
}

inline constexpr auto smooth = fn<"smooth">([](auto x, auto y) { return overdub::sin(x) * y + x / y; });
inline constexpr auto of_arrays = fn<"of_arrays">([](auto const& xs, auto n, auto s) {
  return std::tuple(
      sum(map([&](auto x) { return x * x * s; }, xs)), n,
      map([&](auto x) { return overdub::exp(x) * convert<double>(n); }, xs));
});

TEST_CASE("test_derivative accepts functions of numbers, of floats, and of arrays, an integer and a number") {
  derivative_report const numbers = test_derivative(counting(), smooth, 1.0, 2.0);
  INFO(numbers.text());
  CHECK(numbers);
  CHECK(numbers.text() == std::to_string(numbers.checks) + " comparisons hold\n");
  CHECK(numbers.checks > 30);
  CHECK(test_derivative(smooth, 1.0f, 2.0f));
  derivative_report const arrays = test_derivative(of_arrays, array<double>{1.0, 2.0, 3.0}, 4, 0.5);
  INFO(arrays.text());
  CHECK(arrays);
}

inline constexpr auto wrong_tangent = derivative_rule(
    fn<"wrong_tangent">([](auto x, auto y) { return x * y; }),
    [](auto, auto x, auto y, auto dx, auto dy) { return x * dy + 1.5 * y * dx; });
inline constexpr auto wrong_cotangent = cotangent_rule(
    fn<"wrong_cotangent">([](auto x, auto y) { return x * y; }),
    [](auto, auto x, auto y, auto c) { return std::tuple(y * c, c + x); });
inline constexpr auto wrong_second =
    derivative_rule(fn<"wrong_second">([](auto x) { return x * x; }), [](auto, auto x, auto dx) {
      return 2.0 * stop_gradient(fn<"same">([](auto z) { return z; }))(x) * dx;
    });

TEST_CASE("a wrong rule is detected, with the input") {
  derivative_report const r = test_derivative(wrong_tangent, 2.0, 3.0);
  CHECK(!r);
  CHECK(r.failures.front() == "forward by input 0: result 0: it is 4.5, and by differences 3.0 (up to 0.0)");
  CHECK(finds(r, "forward along a direction in all inputs"));
  for (std::string const& failure : r.failures) CHECK(!failure.starts_with("forward by input 1"));
}

TEST_CASE("a nonlinear cotangent rule is detected, though it is correct for the cotangent 1") {
  derivative_report const r = test_derivative(wrong_cotangent, 2.0, 1.0 / 3.0);
  CHECK(finds(r, "reverse by input 1: a cotangent times the change"));
}

TEST_CASE("a rule whose own derivative is wrong is detected by nested derivatives alone") {
  derivative_report const r = test_derivative(wrong_second, 2.0);
  CHECK(finds(r, "forward over forward by input 0"));
  CHECK(!finds(r, "reverse by input 0: a cotangent"));
}

TEST_CASE("a compiled gradient that allocates is detected") {
  derivative_test how;
  how.allocations = [] {
    static long count = 0;
    return ++count;
  };
  CHECK(finds(test_derivative(how, smooth, 1.0, 2.0), "a second call allocates"));
}

inline constexpr auto jumps = fn<"jumps">([](auto x) { return overdub::floor(x); });
inline constexpr auto distance = fn<"distance">([](auto x) { return overdub::abs(x); });

TEST_CASE("test_derivative fails at kinks and jumps, and a reference derivative passes") {
  CHECK(!test_derivative(distance, 0.0));
  CHECK(!test_derivative(jumps, 2.0));
  CHECK(test_derivative_against([](auto, auto dx) { return dx; }, distance, 0.0));
  CHECK(test_derivative_against([](auto, auto) { return 0.0; }, jumps, 2.0));
  CHECK(finds(test_derivative_against([](auto, auto dx) { return -dx; }, distance, 0.0), "by the reference"));
}

inline constexpr auto saturated =
    fn<"saturated">([](auto x) { return overdub::clamp(x, -1.0, 1.0) + overdub::tanh(50.0 * x); });

TEST_CASE("in a saturated region the derivative is that of the limit") {
  CHECK(test_derivative(saturated, 3.0));
  CHECK(test_derivative_against([](auto, auto) { return 0.0; }, saturated, 3.0));
}

// ---- operations

struct row {
  std::string_view name, kind;
  int arity;
};
constexpr row rows[] = {
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) {#NAME, #KIND, 1},
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) {#NAME, #KIND, 2},
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) {#NAME, #KIND, 3},
#include <overdub/core/ops.def>
};

bool has_derivative(row const& r) {
  return (r.kind == "arithmetic" && r.name != "rem") || r.kind == "math" || r.name == "select" ||
         r.kind == "indexed";
}
// The arguments other than f64: a condition, an order or an exponent.
std::string type_of(row const& r, int argument) {
  if (r.name == "select" && argument == 0) return "bool";
  if (r.name == "polygamma" && argument == 0) return "i64";
  if (r.name == "ldexp" && argument == 1) return "i64";
  return "f64";
}
ir::program program_of(row const& r) {
  std::string head, operands;
  for (int i = 0; i < r.arity; ++i) {
    std::string const x = "%x" + std::to_string(i), comma = i == 0 ? "" : ", ";
    head += comma + x + ": " + type_of(r, i);
    operands += comma + x;
  }
  return ir::parse(
      "entry @f\nfunc @f(" + head + ") -> f64 {\n  %y = " + std::string(r.name) + " " + operands +
      " : f64\n  return %y\n}\n");
}
bool keeps_clear(row const& r, std::vector<double> const& x) {
  auto const apart = [](double a, double b) { return std::abs(a - b) > 0.1; };
  auto const from_integer = [](double a) { return std::abs(a - std::nearbyint(a)); };
  if (r.name == "abs" || r.name == "logb") return apart(x[0], 0.0);
  if (r.name == "copysign") return apart(x[0], 0.0) && apart(x[1], 0.0);
  for (std::string_view const name : {"floor", "ceil", "trunc", "logb"})
    if (r.name == name) return from_integer(x[0]) > 0.1;
  for (std::string_view const name : {"round", "nearbyint", "rint"})
    if (r.name == name) return from_integer(x[0] + 0.5) > 0.1;
  for (std::string_view const name : {"min", "max", "fmin", "fmax", "fdim"})
    if (r.name == name) return apart(x[0], x[1]);
  if (r.name == "clamp") return apart(x[0], x[1]) && apart(x[0], x[2]) && apart(x[1], x[2]);
  return true;
}

// logb jumps, and nextafter changes the last bit: below.
bool has_smooth_derivative(row const& r) {
  return has_derivative(r) && r.name != "logb" && r.name != "nextafter";
}

// A point of its domain, for a given fraction in each argument; nothing if the point is too near to a kink or a jump.
std::string failures_of(row const& r, std::array<double, 3> const& fractions) {
  domain const d = domain_of(r.name == "polygamma" ? "digamma" : r.name);
  std::vector<double> x;
  std::vector<datum> inputs;
  for (int i = 0; i < r.arity; ++i) {
    auto const at = static_cast<std::size_t>(r.name == "polygamma" ? 0 : i);
    double const part = fractions[static_cast<std::size_t>(i)];
    x.push_back(d.low[at] + (d.high[at] - d.low[at]) * part);
    if (type_of(r, i) == "f64")
      inputs.emplace_back(x.back());
    else if (type_of(r, i) == "bool")
      inputs.emplace_back(part < 0.5);
    else
      inputs.emplace_back(static_cast<i64>(1 + 3 * part));
  }
  if (!keeps_clear(r, x)) return "";
  derivative_report const report = test_derivative(program_of(r), inputs);
  std::string at;
  for (double const each : x) at += " " + std::to_string(each);
  return report ? "" : std::string(r.name) + " at" + at + ":\n" + report.text();
}

TEST_CASE("test_derivative accepts every operation with a derivative") {
  int tested = 0;
  for (row const& r : rows) {
    if (!has_smooth_derivative(r)) continue;
    ++tested;
    for (std::size_t k = 0; k < 7; k += 2)
      CHECK(failures_of(r, {fractions[0][k], fractions[1][(k + 3) % 7], fractions[2][(k + 5) % 7]}) == "");
  }
  CHECK(tested > 50);
}

TEST_CASE("test_derivative accepts them at random numbers, too") {
  std::vector<row> some;
  for (row const& r : rows)
    if (has_smooth_derivative(r)) some.push_back(r);
  property([&] {
    row const r = some[*rc::gen::inRange(std::size_t{0}, some.size())];
    auto const part = [] { return *rc::gen::inRange(1, 1000) / 1000.0; };
    std::array<double, 3> const at{part(), part(), part()};
    std::string const failures = failures_of(r, at);
    if (!failures.empty()) RC_FAIL(failures);
  });
}

TEST_CASE("operations that jump have the derivative zero, and nextafter has that of its first argument") {
  auto const none = [](std::vector<datum> const&, std::vector<datum> const&) {
    return std::vector<datum>{0.0};
  };
  for (row const& r : rows)
    if (r.name == "logb") CHECK(test_derivative(program_of(r), {3.0}, {}, none));
  auto const first = [](std::vector<datum> const&, std::vector<datum> const& along) {
    return std::vector<datum>{along[0]};
  };
  for (row const& r : rows)
    if (r.name == "nextafter") CHECK(test_derivative(program_of(r), {3.0, 4.0}, {}, first));
}

} // namespace
