// Fast programs: machine code is within the bounds in docs/equality.md, for random functions; other executors run them as
// exact ones.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/jit/jit.hpp>
#include <overdub/stage/evaluate_data.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace overdub;

constexpr double unit = 0x1p-52;

// A number of a function: its value, the sum of the absolute values of its terms, in whatever order and grouping, and a
// bound of the error of a result.
struct bounded {
  double value, terms, error;
};
bounded input(double x) { return {x, std::abs(x), 0}; }
bounded sum(bounded a, bounded b, double sign) {
  double const terms = a.terms + b.terms;
  return {a.value + sign * b.value, terms, a.error + b.error + unit * terms};
}
bounded product(bounded a, bounded b) {
  double const terms = a.terms * b.terms;
  return {a.value * b.value, terms, a.terms * b.error + b.terms * a.error + a.error * b.error + unit * terms};
}
// An elementary function with a derivative of at most `slope`: 4 units in the last place of its own.
bounded function(bounded a, double value, double slope) {
  double const size = std::abs(value);
  return {value, size, slope * a.error + 4 * unit * (size + slope * a.error)};
}

struct step {
  std::string code;
  std::size_t a, b;
};
std::vector<step> random_steps(std::mt19937& random, std::size_t count) {
  static char const* const codes[] = {"add", "sub", "mul", "add", "mul", "sin", "cos", "tanh", "exp", "atan"};
  std::vector<step> all;
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t const known = 2 + k;
    all.push_back({codes[random() % 10], random() % known, random() % known});
  }
  return all;
}
bounded run(std::vector<step> const& steps, double x, double y) {
  std::vector<bounded> all{input(x), input(y)};
  for (step const& s : steps) {
    bounded const a = all[s.a], b = all[s.b];
    if (s.code == "add" || s.code == "sub")
      all.push_back(sum(a, b, s.code == "add" ? 1 : -1));
    else if (s.code == "mul")
      all.push_back(product(a, b));
    else if (s.code == "exp")
      all.push_back(function(a, std::exp(a.value), std::exp(a.value + a.error)));
    else
      all.push_back(function(
          a,
          s.code == "sin"    ? std::sin(a.value)
          : s.code == "cos"  ? std::cos(a.value)
          : s.code == "tanh" ? std::tanh(a.value)
                             : std::atan(a.value),
          1));
  }
  return all.back();
}
std::string text_of(std::vector<step> const& steps) {
  std::string body;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    step const& s = steps[k];
    bool const two = s.code == "add" || s.code == "sub" || s.code == "mul";
    body += "    %v" + std::to_string(2 + k) + " = " + s.code + " %v" + std::to_string(s.a) +
            (two ? ", %v" + std::to_string(s.b) : "") + " : f64\n";
  }
  return "math fast\nentry @f\n\nfunc @f(%x: f64[], %y: f64[]) -> (f64[], f64) {\n  %n = length %x : i64\n"
         "  %r, %q = map %n (%i: i64) -> (f64, f64) {\n    %v0 = at %x, %i : f64\n    %v1 = at %y, %i : "
         "f64\n" +
         body + "    yield %v" + std::to_string(1 + steps.size()) + ", %v" +
         std::to_string(1 + steps.size()) +
         "\n  }\n  %s = reduce add %q from 0.0 : f64\n  return %r, %s\n}\n";
}
array<double> numbers(std::mt19937& random, std::size_t n) {
  std::vector<double> all;
  std::uniform_real_distribution<double> some(-1, 1);
  for (std::size_t i = 0; i < n; ++i) all.push_back(some(random));
  return array<double>::copy_of(all);
}

} // namespace

TEST_CASE("machine code of fast programs is within the documented bounds") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    auto const steps = random_steps(random, 3 + random() % 12);
    auto const x = numbers(random, 203), y = numbers(random, 203);
    std::string const text = text_of(steps);
    INFO("seed " << seed << "\n" << text);
    auto const found = jit::compile(ir::parse(text), {}, {.optimisation = 2 + static_cast<int>(seed % 2)})
                           .run(std::vector<datum>{datum(x), datum(y)});
    auto const each = found[0].elements<double>();
    bounded all{0, 0, 0};
    bool finite = true;
    for (i64 i = 0; i < x.size(); ++i) {
      bounded const wanted = run(steps, x[i], y[i]);
      finite = finite && std::isfinite(wanted.terms) && std::isfinite(wanted.error);
      if (!finite) break;
      INFO("element " << i);
      // The reference value may have the same error.
      CHECK(std::abs(each[i] - wanted.value) <= 2 * wanted.error);
      all = {all.value + wanted.value, all.terms + wanted.terms, all.error + wanted.error};
    }
    if (!finite) continue;
    double const bound = 2 * (all.error + static_cast<double>(x.size()) * unit * all.terms);
    CHECK(std::abs(found[1].as<double>() - all.value) <= bound);
  }
}

TEST_CASE("fast programs preserve infinities and NaNs") {
  ir::program const p = ir::parse(R"(
math fast
entry @f
func @f(%x: f64) -> (f64, bool, bool) {
  %a = sub %x, %x : f64
  %b = isnan %a : bool
  %c = isinf %x : bool
  return %a, %b, %c
}
)");
  auto const found = jit::compile(p).run(std::vector<datum>{datum(std::numeric_limits<double>::infinity())});
  CHECK(found[1] == datum(true));
  CHECK(found[2] == datum(true));
}

TEST_CASE("quotients of fast programs equal exact ones, also for subnormal and large divisors") {
  ir::program const p = ir::parse(R"(
math fast
entry @f
func @f(%x: f64[], %k: f64) -> (f64[], f64[]) {
  %n = length %x : i64
  %q, %r = map %n (%i: i64) -> (f64, f64) {
    %a = at %x, %i : f64
    %b = div %a, %k : f64
    %c = add %a, 1.0 : f64
    %d = div %c, %k : f64
    yield %b, %d
  }
  return %q, %r
}
)");
  std::vector<double> const x{0.0, 1e-310, 2.2250738585072014e-308, -1e-300, 1.0, 1e300, 3.0, -1.0, 5e-324};
  for (int const level : {2, 3}) {
    auto const run = jit::compile(p, {}, {.optimisation = level});
    for (double const k : {1e-310, -5e-324, 1e308, 3.0}) {
      auto const found = run.run(std::vector<datum>{datum(array<double>::copy_of(x)), datum(k)});
      auto const quotients = found[0].elements<double>(), others = found[1].elements<double>();
      for (std::size_t i = 0; i < x.size(); ++i) {
        INFO(x[i] << " by " << k);
        CHECK(quotients[static_cast<i64>(i)] == x[i] / k);
        CHECK(others[static_cast<i64>(i)] == (x[i] + 1) / k);
      }
    }
  }
}

TEST_CASE("the interpreter and evaluation run fast programs as exact ones") {
  std::mt19937 random(5);
  for (int k = 0; k < 20; ++k) {
    ir::program p = ir::parse(text_of(random_steps(random, 10)));
    std::vector<datum> const arguments{datum(numbers(random, 33)), datum(numbers(random, 33))};
    auto const interpreted = executable(p).run(arguments), evaluated = evaluate(p, arguments);
    p.math = ir::math_mode::exact;
    auto const exact = executable(p).run(arguments);
    CHECK(interpreted == exact);
    CHECK(evaluated == exact);
  }
}
