// The check of one operation: for all operands within their bounds, the result is within its bounds.
#include "catch.hpp"
#include "pass/random_program.hpp"
#include "pass/reference.hpp"

#include <overdub/implementation/check/operations.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace {

using namespace overdub::ir;
namespace checking = overdub::checking;
using reference::value;

class drawn {
public:
  explicit drawn(std::uint64_t seed) : random(seed) {}

  double real(bool is_f32) {
    static constexpr double special[] = {
        0, 1, -1, 0.5, 2, 3, -2, 1.5707963267948966, 3.14, 1e-3, 100, -1e5, 709.5, -745, 1e300, 1e-310, 1e30};
    double x = special[random.below(std::size(special))];
    if (random.chance(60))
      x = (static_cast<double>(random.bits() >> 11) * 0x1p-53 - 0.5) *
          std::exp2(static_cast<double>(random.below(20)) - 8);
    if (random.chance(3)) x = std::numeric_limits<double>::infinity();
    if (random.chance(30)) x = -x;
    return is_f32 ? static_cast<double>(static_cast<float>(x)) : x;
  }
  std::int64_t whole() {
    static constexpr std::int64_t special[] = {0,
                                               1,
                                               -1,
                                               2,
                                               63,
                                               64,
                                               -64,
                                               std::numeric_limits<std::int64_t>::min(),
                                               std::numeric_limits<std::int64_t>::max()};
    return random.chance(30) ? special[random.below(std::size(special))]
                             : static_cast<std::int64_t>(random.below(200)) - 100;
  }
  // Bounds and a value in them, often at an end.
  std::pair<checking::abstract, value> operand(type t) {
    checking::abstract a = checking::anything(t);
    switch (t.element) {
    case scalar::boolean: {
      bool const x = random.chance(50);
      a.element = checking::number::of(random.chance(50) ? checking::bools::any() : checking::bools::only(x));
      return {a, reference::of_number(x)};
    }
    case scalar::i64: {
      std::int64_t const x = whole(), y = random.chance(30) ? x : whole();
      auto const [low, high] = std::minmax(x, y);
      a.element.whole = checking::integers::of(low, high);
      std::int64_t inside = random.chance(60) ? x : random.chance(50) ? y : low + (high / 2 - low / 2);
      return {a, reference::of_number(inside)};
    }
    default: {
      bool const is_f32 = t == f32;
      double const x = real(is_f32), y = random.chance(30) ? x : real(is_f32);
      auto const [low, high] = std::minmax(x, y);
      a.element.real = checking::reals::of(low, high, random.chance(10));
      double inside = random.chance(60) ? x : random.chance(50) ? y : low / 2 + high / 2;
      if (random.chance(30) && low <= 0 && high >= 0) inside = random.chance(50) ? 0.0 : -0.0;
      if (inside != inside || inside < low || inside > high) inside = low;
      if (is_f32) inside = std::clamp(static_cast<double>(static_cast<float>(inside)), low, high);
      if (a.element.real.nan && random.chance(30)) inside = std::numeric_limits<double>::quiet_NaN();
      return {a, is_f32 ? reference::of_number(static_cast<float>(inside)) : reference::of_number(inside)};
    }
    }
  }
  random_program::random_numbers random;
};

double real(value const& v) {
  return v.element == scalar::f32 ? static_cast<double>(reference::number<float>(v))
                                  : reference::number<double>(v);
}
bool is_among(value const& v, checking::number const& n) {
  if (v.element == scalar::i64) return n.whole.has(reference::integer(v));
  if (v.element == scalar::boolean) return v.bits != 0 ? n.boolean.may_be_true : n.boolean.may_be_false;
  return n.real.contains(real(v));
}
std::string text_of(value const& v) {
  char text[40];
  if (v.element == scalar::i64 || v.element == scalar::boolean) return std::to_string(reference::integer(v));
  std::snprintf(text, sizeof text, "%.17g", real(v));
  return text;
}

// The types of operands of an operation.
std::vector<std::array<type, 3>> types_of(op code) {
  switch (row_of(code).types) {
  case type_rule::numeric:
    return {{i64, i64, i64}, {f32, f32, f32}, {f64, f64, f64}};
  case type_rule::integer:
    return {{i64, i64, i64}};
  case type_rule::logical:
    return {{boolean, boolean, boolean}};
  case type_rule::comparison:
    return {{i64, i64, i64}, {f32, f32, f32}, {f64, f64, f64}, {boolean, boolean, boolean}};
  case type_rule::select:
    return {{boolean, i64, i64}, {boolean, f64, f64}};
  case type_rule::floating_integer:
    return {{f32, i64, i64}, {f64, i64, i64}};
  case type_rule::integer_floating:
    return {{i64, f64, f64}};
  default:
    return {{f32, f32, f32}, {f64, f64, f64}};
  }
}

} // namespace

TEST_CASE(
    "the result of each operation is within the bounds of check, and NaN occurs only if check reports it") {
  for (std::size_t k = 0; k < static_cast<std::size_t>(op::convert); ++k) {
    op const code = static_cast<op>(k);
    if (code == op::polygamma) continue; // its result is unbounded, and it is slow
    for (auto const& types : types_of(code))
      for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
        drawn d(seed * 1000 + k);
        std::vector<checking::abstract> bounds;
        std::vector<value> x;
        for (std::uint32_t i = 0; i < row_of(code).least; ++i) {
          auto [a, v] = d.operand(types[i]);
          bounds.push_back(std::move(a));
          x.push_back(v);
        }
        std::vector<checking::abstract const*> all;
        std::string given;
        for (std::size_t i = 0; i < x.size(); ++i) {
          all.push_back(&bounds[i]);
          given += text_of(x[i]) + " of " + checking::text_of(bounds[i]) + "; ";
        }
        checking::effect_of_op const e = checking::compute(code, all);
        value result;
        bool nan_before = false;
        for (value const& v : x)
          nan_before =
              nan_before || ((v.element == scalar::f64 || v.element == scalar::f32) && std::isnan(real(v)));
        try {
          result = reference::compute(math_mode::exact, code, x);
        } catch (overdub::division_by_zero const&) {
          if (!e.may_divide_by_zero) FAIL(name_of(code) << " divides by 0: " << given);
          continue;
        }
        if (!is_among(result, e.result))
          FAIL(name_of(code) << " returns " << text_of(result) << " for " << given << " seed " << seed);
        bool const is_real = result.element == scalar::f64 || result.element == scalar::f32;
        if (is_real && code != op::select && std::isnan(real(result)) && !nan_before && !e.may_be_wrong.nan)
          FAIL(name_of(code) << " returns NaN for " << given);
      }
  }
  SUCCEED();
}
// Trivial bounds would pass the test above.
TEST_CASE("for operands in small ranges, check bounds the result of each operation, or decides its bool") {
  using checking::integers, checking::number, checking::reals, checking::bools;
  struct range {
    double low, high;
  };
  std::string vague;
  for (std::size_t k = 0; k < static_cast<std::size_t>(op::convert); ++k) {
    op const code = static_cast<op>(k);
    for (auto const& types : types_of(code)) {
      bool is_known = false;
      for (range const r : {range{-1.75, -1.5}, range{0.25, 0.375}, range{1.25, 1.5}, range{2, 2}}) {
        std::vector<checking::abstract> bounds;
        for (std::uint32_t i = 0; i < row_of(code).least; ++i) {
          double const up = i; // so that comparisons are decided
          number const x = types[i] == boolean ? number::of(bools::only(true))
                           : types[i] == i64   ? number::of(integers::of(2 + i, 2 + i))
                                               : number::of(reals::of(r.low + up, r.high + up));
          bounds.push_back(checking::scalar_of(types[i], x));
        }
        std::vector<checking::abstract const*> all;
        for (checking::abstract const& b : bounds) all.push_back(&b);
        number const y = checking::compute(code, all).result;
        bool const real = !y.real.nan && y.real.high - y.real.low < 100;
        bool const whole = y.whole.is_empty() || y.whole.high - y.whole.low < 100;
        bool const boolean = !(y.boolean.may_be_false && y.boolean.may_be_true);
        is_known = is_known || (!y.is_empty() && (real || y.real.is_empty()) && whole && boolean);
      }
      if (!is_known) vague += std::string(name_of(code)) + ' ';
    }
  }
  CHECK(vague == "tgamma tgamma lgamma lgamma digamma digamma polygamma "); // of f32, and of f64
}
TEST_CASE("the result of each conversion is within the bounds of check") {
  for (type const from : {boolean, i64, f32, f64})
    for (type const to : {boolean, i64, f32, f64})
      for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
        drawn d(seed);
        auto const [a, v] = d.operand(from);
        value const result = reference::convert(v, to);
        if (!is_among(result, checking::convert(a, to)))
          FAIL(text_of(v) << " of " << checking::text_of(a) << " is converted to " << text_of(result));
      }
  SUCCEED();
}
TEST_CASE("joins contain both abstract values, and meets their common values") {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    drawn d(seed);
    for (type const t : {i64, f64}) {
      auto const [a, x] = d.operand(t);
      auto const [b, y] = d.operand(t);
      checking::abstract const both = join(a, b);
      if (!is_among(x, both.element) || !is_among(y, both.element) || !is_within(a, both) ||
          !is_within(b, both))
        FAIL(text_of(x) << " or " << text_of(y) << " is not in the join " << checking::text_of(both));
      bool const met = t == i64 ? meet(a.element.whole, b.element.whole).has(reference::integer(x))
                                : meet(a.element.real, b.element.real).contains(real(x));
      if (met != is_among(x, b.element))
        FAIL(text_of(x) << " is in one of two abstract values, and in their meet");
      if (!is_within(both, widened(a, both))) FAIL("widening loses something");
    }
  }
  SUCCEED();
}
