// The table's operations in programs, in forward, reverse and second-order mode: constants have no derivatives at singular
// points, and derivatives are accurate at all magnitudes, interpreted and compiled.
#include "catch.hpp"
#include "reverse/closed_form_derivatives.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse/gradient_program.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/jit.hpp>
#endif

#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace overdub;

constexpr double infinity = std::numeric_limits<double>::infinity();
// Points at which logarithms, roots, quotients, inverse functions and exponentials have no finite derivative.
constexpr std::array<double, 16> points = {0.0,       -0.0,
                                           1.0,       -1.0,
                                           2.0,       -2.0,
                                           0.5,       infinity,
                                           -infinity, 800.0,
                                           -800.0,    1e-310,
                                           1e300,     1.5707963267948966,
                                           -0.5,      std::numeric_limits<double>::quiet_NaN()};

bool same(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)) || (a == 0 && b == 0);
}

// x g(k) or x^2 g(k), for an operation g of some numbers k.
ir::program scaled(std::string_view op, int arity, bool twice) {
  std::string parameters, operands;
  for (int i = 0; i < arity; ++i) {
    parameters += ", %k" + std::to_string(i) + ": f64";
    operands += (i > 0 ? ", %k" : "%k") + std::to_string(i);
  }
  return ir::parse(
      "entry @f\nfunc @f(%x: f64" + parameters + ") -> f64 {\n  %g = " + std::string(op) + " " + operands +
      " : f64\n  %y = mul %x, " + (twice ? "%x" : "1.0") +
      " : f64\n  %r = mul %y, %g : f64\n  return %r\n}\n");
}
std::vector<bool> first_alone(int arity) {
  std::vector<bool> asked(static_cast<std::size_t>(arity) + 1, false);
  asked[0] = true;
  return asked;
}
ir::program backwards(ir::program p, std::vector<bool> const& asked) {
  differentiate_entry(p, asked, false);
  return p;
}

// Checks the law for one operation at all of these points.
template <class Op, class... K>
struct law {
  Op op;
  executable forwards, back, forwards_of_back, back_of_back;

  explicit law(Op o)
      : op(o), forwards(forward_of(scaled(o.name(), arity, false))),
        back(backwards(scaled(o.name(), arity, false), first_alone(arity))),
        forwards_of_back(forward_of(backwards(scaled(o.name(), arity, true), first_alone(arity)))),
        back_of_back(
            backwards(backwards(scaled(o.name(), arity, true), first_alone(arity)), first_alone(arity))) {}

  void holds_at(K... k) const {
    if (op.name() == "lerp" && (std::isnan(k) || ...)) return; // std::lerp of NaN may be a number
    if ((op.name() == "mul" || op.name() == "fma") && (std::isinf(k) || ...)) return; // limitations
    double const g = op(k...), x = 2.0;
    std::string at;
    ((at += " " + std::to_string(k)), ...);
    INFO(op.name() << at);
    auto const along = [&](executable const& f) {
      return std::apply(
          [&](auto... with) {
            return std::get<1>(f.template call<std::tuple<double, double>>(x, 1.0, with...));
          },
          std::tuple_cat(std::tuple(k, 0.0)...));
    };
    CHECK(same(along(forwards), g));
    CHECK(same(back.template call<double>(x, k...), g));
    if (std::isinf(g)) return;
    CHECK(same(along(forwards_of_back), 2.0 * g));
    CHECK(same(back_of_back.template call<double>(x, k...), 2.0 * g));
  }

private:
  static constexpr int arity = sizeof...(K);
};

template <class Op>
consteval bool is_checked() {
  using Kind = kind_of<Op>;
  return (std::same_as<Kind, kind::arithmetic> || std::same_as<Kind, kind::math>)&&!std::same_as<Op, rem_t>;
}

// ---- accuracy

// The executors of a program.
std::vector<executable> ways(ir::program const& p) {
  std::vector<executable> all{executable(p)};
#if OVERDUB_TESTS_JIT
  all.push_back(jit::compile(p));
#endif
  return all;
}
ir::program of_operands(std::string const& op, int arity) {
  return ir::parse(
      "entry @f\nfunc @f(%x: f64" + std::string(arity > 1 ? ", %y: f64" : "") + ") -> f64 {\n  %r = " + op +
      (arity > 1 ? " %x, %y" : " %x") + " : f64\n  return %r\n}\n");
}

constexpr closed_forms::real few = 8, few_twice = 32; // units in the last place

struct largest {
  closed_forms::real distance = 0;
  double x = 0, y = 0;
  void note(closed_forms::real d, double at_x, double at_y = 0) {
    if (d > distance) *this = {d, at_x, at_y};
  }
};

} // namespace

TEST_CASE("in programs, constants have no derivative at singular points") {
  auto const check_unary = [](auto op) {
    if constexpr (is_checked<decltype(op)>()) {
      law<decltype(op), double> const holds(op);
      for (double const k : points) holds.holds_at(k);
    }
  };
  auto const check_binary = [](auto op) {
    if constexpr (is_checked<decltype(op)>()) {
      law<decltype(op), double, double> const holds(op);
      for (double const k : points)
        for (double const l : points) holds.holds_at(k, l);
    }
  };
  auto const check_ternary = [](auto op) {
    if constexpr (is_checked<decltype(op)>()) {
      law<decltype(op), double, double, double> const holds(op);
      for (double const k : points)
        for (double const l : points)
          for (double const m : {0.5, 0.0, infinity}) holds.holds_at(k, l, m);
    }
  };
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) check_unary(overdub::NAME);
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) check_binary(overdub::NAME);
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                            \
  check_ternary(overdub::NAME);
#include <overdub/core/ops.def>
}

TEST_CASE("in programs, derivatives of unary operations have an error of a few units in the last place") {
  for (char const* const op : {"sqrt",  "cbrt",  "exp",   "exp2",  "expm1", "log",  "log2",   "log10",
                               "log1p", "sin",   "cos",   "tan",   "asin",  "acos", "atan",   "sinh",
                               "cosh",  "asinh", "acosh", "atanh", "erf",   "erfc", "tgamma", "lgamma"}) {
    ir::program const f = of_operands(op, 1), gradient = backwards(f, {true});
    largest once, back, twice, back_twice;
    auto const forwards = ways(forward_of(f)), backs = ways(gradient);
    auto const forwards_of_back = ways(forward_of(gradient)),
               back_of_back = ways(backwards(gradient, {true}));
    for (double const x : closed_forms::magnitudes()) {
      auto const right = closed_forms::of_one(op, x);
      if (closed_forms::distance(0.0, right.first) == 0) continue;
      for (std::size_t i = 0; i < forwards.size(); ++i) {
        auto const second = [&](executable const& e) {
          return std::get<1>(e.call<std::tuple<double, double>>(x, 1.0));
        };
        once.note(closed_forms::distance(second(forwards[i]), right.first), x);
        back.note(closed_forms::distance(backs[i].call<double>(x), right.first), x);
        twice.note(closed_forms::distance(second(forwards_of_back[i]), right.second), x);
        // Reverse over reverse: the product of two partial derivatives overflows, and a third factor is small.
        if (std::abs(x) < 1e75 && std::abs(x) > 1e-75)
          back_twice.note(closed_forms::distance(back_of_back[i].call<double>(x), right.second), x);
      }
    }
    INFO(op << " at " << once.x << ", " << back.x << ", twice at " << twice.x << ", " << back_twice.x);
    CHECK(once.distance <= few);
    CHECK(back.distance <= few);
    CHECK(twice.distance <= few_twice);
    CHECK(back_twice.distance <= few_twice);
  }
}

TEST_CASE("in programs, derivatives of binary operations have an error of a few units in the last place") {
  auto const numbers = closed_forms::magnitudes();
  for (std::string const op : {"mul", "div", "hypot", "atan2", "pow"}) {
    auto const backs = ways(backwards(of_operands(op, 2), {true, true}));
    largest by_x, by_y;
    for (std::size_t i = 0; i < numbers.size(); i += 3)
      for (std::size_t j = i % 2; j < numbers.size(); j += 2) {
        double const x = numbers[i], y = numbers[j];
        if (op == "pow" && !std::isfinite(std::pow(x, y))) continue;
        auto const right = closed_forms::of_two(op, x, y);
        for (executable const& e : backs) {
          auto const [along_x, along_y] = e.call<std::tuple<double, double>>(x, y);
          by_x.note(closed_forms::distance(along_x, right.x), x, y);
          by_y.note(closed_forms::distance(along_y, right.y), x, y);
        }
      }
    INFO(op << " at " << by_x.x << ", " << by_x.y << " and at " << by_y.x << ", " << by_y.y);
    CHECK(by_x.distance <= few);
    CHECK(by_y.distance <= few);
  }
}

TEST_CASE("all derivatives of powers with the exponent 0 are 0, in every mode, at 0 too") {
  ir::program const power =
      ir::parse("entry @f\nfunc @f(%x: f64, %y: f64) -> f64 {\n  %r = pow %x, %y : f64\n  return %r\n}\n");
  ir::program const gradient = backwards(power, {true, false});
  executable const twice(backwards(gradient, {true, false})),
      thrice(backwards(backwards(gradient, {true, false}), {true, false}));
  executable const mixed(forward_of(gradient));
  for (double const x : {0.0, -0.0, 1.5, -2.0}) {
    CHECK(twice.call<double>(x, 0.0) == 0.0);
    CHECK(thrice.call<double>(x, 0.0) == 0.0);
    CHECK(std::get<1>(mixed.call<std::tuple<double, double>>(x, 1.0, 0.0, 0.0)) == 0.0);
  }
  CHECK(twice.call<double>(0.0, 2.0) == 2.0);
  CHECK(twice.call<double>(0.0, 1.0) == 0.0);
  CHECK(thrice.call<double>(0.0, 3.0) == 6.0);
}
