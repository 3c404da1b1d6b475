// The rewrite rules of simplify.
#include "pass/laws.hpp"
#include "property.hpp"

#include <overdub/forward_program.hpp>
#include <overdub/implementation/pass/rules.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/pass/simplify.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>

namespace {

using namespace overdub::ir;
using overdub::pass::pattern;

void simplify(program& p) { overdub::pass::simplify(p); }

// A function of x, y, z and c that computes a pattern; x, y and z have type t, and so have numbers marked in the pattern.
class computation {
public:
  explicit computation(type t) : type_(t) {
    type const parameters[] = {t, t, t, boolean};
    p_.entry = p_.add("law", parameters);
  }
  program of(pattern const& what) {
    cursor c(p_, p_.entry, function::body);
    value_id const result = add(c, what, what.root(), type_);
    p_[p_.entry].results = {c->type_of(result)};
    c.yield(std::array{result});
    return p_;
  }

private:
  value_id add(cursor& c, pattern const& what, pattern::node const& x, type t) {
    switch (x.is) {
    case pattern::node::kind::name:
      return c->argument(function::body, x.name < 3 ? x.name : 3);
    case pattern::node::kind::boolean:
      return c.literal(boolean, pattern::bits_of(x, boolean));
    case pattern::node::kind::number:
      return c.literal(t, pattern::bits_of(x, t));
    default:
      std::vector<value_id> operands;
      for (std::uint32_t const i : x.operands)
        operands.push_back(add(c, what, what[i], x.code == op::ldexp && !operands.empty() ? i64 : t));
      return c->result(c.insert(x.code, operands));
    }
  }
  type type_;
  program p_;
};

// A rule holds for every choice of x, y, z among special numbers, and for random ones.
template <class T>
void check(overdub::pass::rule const& rule, type t) {
  program const before = computation(t).of(pattern(rule.left));
  REQUIRE(faults_of(before).empty());
  program simplified = before;
  CHECK(overdub::pass::simplify(simplified) > 0);
  REQUIRE(faults_of(simplified).empty());
  auto compare = [&](T x, T y, T z, bool is_true) {
    std::vector<reference::value> const in{
        reference::of_number(x), reference::of_number(y), reference::of_number(z),
        reference::of_number(is_true)};
    auto const expected = reference::run(before, in);
    INFO(rule.left << " is " << rule.right << " for " << +x << ", " << +y << ", " << +z << ", " << is_true);
    REQUIRE(expected == reference::run(simplified, in));
  };
  std::vector<T> numbers;
  if constexpr (std::is_same_v<T, bool>)
    numbers = {false, true};
  else
    for (T const x : corner_cases<T>()) numbers.push_back(x);
  for (T const x : numbers)
    for (T const y : numbers)
      for (bool const is_true : {false, true}) compare(x, y, x, is_true);
  random_program::random_numbers random(7);
  for (std::uint64_t i = 0; i < laws::seeds(200); ++i) {
    auto any = [&] {
      if constexpr (std::is_floating_point_v<T>)
        return static_cast<T>(static_cast<double>(random.below(4000)) / 16 - 125);
      else
        return static_cast<T>(random.bits());
    };
    T const x = any(), y = any(), z = any();
    compare(x, y, z, random.chance(50));
  }
}

// The directional derivative of a rule's left side equals that of its right side, also at kinks and ties.
void check_derivative(overdub::pass::rule const& rule) {
  program const before = computation(f64).of(pattern(rule.left));
  if (before[before.entry].results[0] != f64) return;
  program simplified = before;
  overdub::pass::simplify(simplified);
  program const derivative = overdub::forward_of(before), of_simplified = overdub::forward_of(simplified);
  double const points[] = {-2.0, -1.0, -0.0, 0.0, 1.0, 2.0};
  double const directions[][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {-1.0, 0.0, 0.0}, {0.5, -3.0, 2.0}};
  for (double const x : points)
    for (double const y : points)
      for (auto const& d : directions)
        for (bool const is_true : {false, true}) {
          std::vector<reference::value> in;
          for (double const number : {x, d[0], y, d[1], 2.0, d[2]})
            in.push_back(reference::of_number(number));
          in.push_back(reference::of_number(is_true));
          auto const slope = [&](program const& p) {
            return reference::number<double>(reference::run(p, in)->results.back());
          };
          double const expected = slope(derivative), found = slope(of_simplified);
          INFO(
              rule.left << " is " << rule.right << " at " << x << ", " << y << " along " << d[0] << ", "
                        << d[1]);
          if (std::isnan(expected))
            CHECK(std::isnan(found));
          else
            CHECK(found == Approx(expected));
        }
}

} // namespace

TEST_CASE("rewrite rules preserve derivatives") {
  for (overdub::pass::rule const& rule : overdub::pass::rewrite_rules)
    if (rule.rewrite == nullptr && applies_to(rule.types, f64)) check_derivative(rule);
}

TEST_CASE("every rewrite rule with a pattern preserves the bits of results, and is applied") {
  for (overdub::pass::rule const& rule : overdub::pass::rewrite_rules) {
    if (rule.rewrite != nullptr) continue;
    INFO(rule.left << " is " << rule.right);
    if (applies_to(rule.types, i64)) check<std::int64_t>(rule, i64);
    if (applies_to(rule.types, f32)) check<float>(rule, f32);
    if (applies_to(rule.types, f64)) check<double>(rule, f64);
    if (applies_to(rule.types, boolean)) check<bool>(rule, boolean);
  }
}

namespace {

// An example of each rewrite rule that is no pattern: the body of a function of %x, %y: f64, %i, %n: i64, %c: bool and
// %a: f64[] of three elements; and its results.
struct example {
  std::string_view rule;
  std::string_view types;
  std::string_view body;
};
constexpr example examples[] = {
    {"x / 2^k is x * 2^-k", "f64", "%r = div %x, -0.5 : f64\n return %r"},
    {"a literal is the last operand", "(f64, f64, bool, bool, bool, bool, i64, i64, i64)",
     "%r = add 2.0, %x : f64\n %s = mul 0.5, %x : f64\n %t = eq 1.0, %x : bool\n %u = ne 1.0, %x : bool\n"
     "%v = logical_and true, %c : bool\n %w = logical_or false, %c : bool\n %k = bit_and 3, %n : i64\n"
     "%l = bit_or 3, %n : i64\n %m = bit_xor 3, %n : i64\n return %r, %s, %t, %u, %v, %w, %k, %l, %m"},
    {"x converted to its own type is x, and so is x converted to a wider type and back", "bool",
     "%w = convert %c : f32\n %r = convert %w : bool\n return %r"},
    {"rounding an integral value returns it", "(f64, f64, f64, f64, f64, f64)",
     "%w = floor %x : f64\n %r = ceil %w : f64\n %s = trunc %w : f64\n %t = round %w : f64\n %u = rint %w : "
     "f64\n"
     "%v = nearbyint %w : f64\n %z = ceil %y : f64\n %q = floor %z : f64\n return %r, %s, %t, %u, %v, %q"},
    {"the length of an array comes from the operation that makes it", "i64",
     "%m = bit_and %n, 3 : i64\n %b = fill %m, %x : f64[]\n %r = length %b, %b : i64\n return %r"},
    {"an element of an array comes from the operation that makes the array", "(f64, i64)",
     "%b = array %x, %y : f64[]\n %r = at %b, 1 : f64\n %d = iota 3 : i64[]\n %s = at %d, 2 : i64\n return "
     "%r, %s"},
    {"a slice of all elements is the array", "f64[]",
     "%m = length %a : i64\n %r = slice %a, 0, %m : f64[]\n return %r"},
    {"a slice without elements adds none", "f64[]",
     "%b = slice %a, 0, 0 : f64[]\n %r = concat %b, %a : f64[]\n return %r"},
    {"writing an element's own value changes nothing", "f64[]",
     "%e = at %a, %i : f64\n %r = update %a, %i, %e : f64[]\n return %r"},
    {"the reduction of one element is the element", "f64",
     "%b = array %x : f64[]\n %r = reduce add %b : f64\n return %r"},
    {"a result that both branches yield is that value", "f64",
     "%r = if %c -> f64 { %s = at %a, %i : f64\n yield %y } else { yield %y }\n return %r"},
    {"branches without operations are a select", "f64",
     "%r = if %c -> f64 { yield %x } else { yield %y }\n return %r"},
    {"a loop-carried value that is loop-invariant is its initial value", "(f64, f64)",
     "%m = bit_and %n, 3 : i64\n"
     "%r, %s = loop %m (%k: i64, %p: f64 = %x, %q: f64 = %y) -> (f64, f64) {\n"
     "  %t = add %p, %q : f64\n yield %p, %t }\n"
     "%u, %v = while (%g: f64 = 1.0, %h: f64 = %y) -> (f64, f64) {\n %z = lt %h, %g : bool\n yield %z\n"
     "} do (%g2: f64, %h2: f64) {\n %w = add %h2, 2.0 : f64\n yield 1.0, %w }\n"
     "%e = add %s, %v : f64\n return %r, %e"},
    {"a loop that runs once is its body", "(f64, f64[])",
     "%r, %s = loop 1 (%k: i64, %p: f64 = %x) -> f64 stack f64 {\n %e = at %a, %k : f64\n"
     " %t = add %p, %e : f64\n yield %t, %e }\n return %r, %s"},
    {"a map over one element is its body", "f64[]",
     "%r = map 1 (%k: i64) -> f64 { %e = at %a, %i : f64\n yield %e }\n return %r"},
    {"an accumulator without additions is its initial array", "(f64[], f64)",
     "%r, %s = accumulate (%acc: acc f64[] = %a) -> (f64[], f64) { %e = at %a, %i : f64\n yield %e }\n "
     "return %r, %s"},
    {"protect of a region without operations is removed", "f64",
     "%r = protect -> f64 { yield %x } failed { %e = at %a, 7 : f64\n yield }\n return %r"},
    {"applying a closure calls its function", "f64",
     "%g = closure @difference(%x) : fn(f64) -> f64\n %r = apply %g(%y) : f64\n return %r"},
};

// Applies a rule to an operation of its example.
void check_example(overdub::pass::rule const& applied_rule, op code) {
  auto const found = std::find_if(std::begin(examples), std::end(examples), [&](example const& e) {
    return e.rule == applied_rule.left;
  });
  REQUIRE(found != std::end(examples));
  program const before = parse(
      "entry @f\nfunc @difference(%p: f64, %q: f64) -> f64 {\n %d = sub %p, %q : f64\n return %d }\n"
      "func @f(%x: f64, %y: f64, %i: i64, %n: i64, %c: bool, %a: f64[]) -> " +
      std::string(found->types) + " {\n" + std::string(found->body) + "\n}\n");
  verify(before);
  program after = before;
  int applied = 0;
  for (cursor c(after, after.entry); c.next();)
    if (c.code() == code) {
      cursor at(after, after.entry);
      applied += applied_rule.rewrite(at, c.node());
      if (applied > 0) break; // the position of the walk may be invalid
    }
  CHECK(applied == 1);
  REQUIRE(faults_of(after).empty());
  random_program::random_numbers random(1);
  auto number = [&] {
    return reference::of_number(corner_cases<double>()[random.below(corner_cases<double>().size())]);
  };
  for (std::uint64_t i = 0; i < 10 + laws::seeds(300); ++i) {
    reference::value a{scalar::f64, 1, 0, {number(), number(), number()}, {}};
    std::vector<reference::value> const in{
        number(),
        number(),
        reference::of_number(static_cast<std::int64_t>(random.below(5)) - 1),
        reference::of_number(static_cast<std::int64_t>(random.below(9)) - 4),
        reference::of_number(random.chance(50)),
        a};
    REQUIRE(reference::run(before, in) == reference::run(after, in));
  }
}

} // namespace

TEST_CASE(
    "every rewrite rule without a pattern has an example, in which it is applied and preserves the result") {
  for (overdub::pass::rule const& each : overdub::pass::rewrite_rules) {
    if (each.rewrite == nullptr) continue;
    for (std::size_t i = 0; i < overdub::ir::op_count; ++i) {
      auto const code = static_cast<op>(i);
      if (!each.rewrites(code)) continue;
      INFO(each.left << ", " << overdub::ir::name_of(code));
      check_example(each, code);
    }
  }
}

TEST_CASE("lengths and elements of an array are the operands that it was made from") {
  laws::rewrites(
      simplify, R"(
func @f(%n: i64, %x: f64, %y: f64, %i: i64) -> (i64, i64, i64, f64, f64, f64, f64[]) {
  %a = fill %n, %x : f64[]
  %p = length %a : i64
  %b = update %a, %i, %y : f64[]
  %q = length %b, %a : i64
  %c = array %x, %y : f64[]
  %r = length %c : i64
  %u = at %c, 1 : f64
  %v = at %b, %i : f64
  %l = loop %n (%k: i64, %s: f64 = 0.0) -> f64 {
    %e = at %a, %k : f64
    %t = add %s, %e : f64
    yield %t
  }
  %w = slice %a, 0, %p : f64[]
  return %p, %q, %r, %u, %v, %l, %w
})",
      R"(
func @f(%n: i64, %x: f64, %y: f64, %i: i64) -> (i64, i64, i64, f64, f64, f64, f64[]) {
  %a = fill %n, %x : f64[]
  %b = update %a, %i, %y : f64[]
  %c = array %x, %y : f64[]
  %l = loop %n (%k: i64, %s: f64 = 0.0) -> f64 {
    %t = add %s, %x : f64
    yield %t
  }
  return %n, %n, 2, %y, %y, %l, %a
})");
}

TEST_CASE("a read whose index may be out of range is not removed") {
  std::string_view const text = R"(
func @f(%n: i64, %x: f64, %i: i64) -> (f64, i64) {
  %a = fill %n, %x : f64[]
  %e = at %a, %i : f64
  %b = iota %n : i64[]
  %k = at %b, %i : i64
  return %e, %k
})";
  laws::rewrites(simplify, text, text);
}

TEST_CASE("unchanged loop-carried values are replaced by their initial values, and a single iteration by the "
          "body") {
  laws::rewrites(
      simplify, R"(
func @f(%n: i64, %x: f64) -> (f64, f64, f64[]) {
  %a, %b = loop %n (%i: i64, %k: f64 = 1.0, %s: f64 = 0.0) -> (f64, f64) {
    %t = mul %s, %k : f64
    %u = add %t, %x : f64
    yield %k, %u
  }
  %c, %d = loop 1 (%i2: i64, %s2: f64 = %x) -> f64 stack f64 {
    %t2 = convert %i2 : f64
    %u2 = add %s2, %t2 : f64
    yield %u2, %s2
  }
  return %a, %b, %d
})",
      R"(
func @f(%n: i64, %x: f64) -> (f64, f64, f64[]) {
  %a, %b = loop %n (%i: i64, %k: f64 = 1.0, %s: f64 = 0.0) -> (f64, f64) {
    %u = add %s, %x : f64
    yield 1.0, %u
  }
  %u2 = add %x, 0.0 : f64
  %d = array %x : f64[]
  return 1.0, %b, %d
})");
}

TEST_CASE("branches without operations become selections, and applied closures become calls") {
  laws::rewrites(
      simplify, R"(
func @f(%c: bool, %x: f64, %y: f64) -> (f64, f64) {
  %a = if %c -> f64 { yield %x } else { yield %y }
  %g = closure @h(%x) : fn(f64) -> f64
  %b = apply %g(%a) : f64
  return %a, %b
}
func @h(%x: f64, %y: f64) -> f64 { return %y })",
      R"(
func @f(%c: bool, %x: f64, %y: f64) -> (f64, f64) {
  %a = select %c, %x, %y : f64
  %g = closure @h(%x) : fn(f64) -> f64
  %b = call @h(%x, %a) : f64
  return %a, %b
}
func @h(%x: f64, %y: f64) -> f64 { return %y })");
}

TEST_CASE("divisions by powers of two become multiplications if the reciprocal is exact") {
  laws::rewrites(
      simplify, R"(
func @f(%x: f64) -> (f64, f64, f64, f64) {
  %a = div %x, 8.0 : f64
  %b = div %x, -0.25 : f64
  %c = div %x, 3.0 : f64
  %d = div %x, 5e-324 : f64
  return %a, %b, %c, %d
})",
      R"(
func @f(%x: f64) -> (f64, f64, f64, f64) {
  %a = mul %x, 0.125 : f64
  %b = mul %x, -4.0 : f64
  %c = div %x, 3.0 : f64
  %d = div %x, 5e-324 : f64
  return %a, %b, %c, %d
})");
}
