// The laws that programs are simplified by.
#include "pass/laws.hpp"
#include "property.hpp"

#include <overdub/ir/print.hpp>
#include <overdub/pass/rules.hpp>
#include <overdub/pass/simplify.hpp>

#include <array>

namespace {

using namespace overdub::ir;
using overdub::pass::pattern;

void simplify(program& p) { overdub::pass::simplify(p); }

// A function of x, y, z and c that computes a pattern; x, y and z have type t, and so have numbers where it says so.
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
    case pattern::node::kind::truth:
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

// A law holds for every choice of x, y, z among special numbers, and for random ones.
template <class T>
void check(overdub::pass::rule const& law, type t) {
  program const before = computation(t).of(pattern(law.left));
  REQUIRE(faults_of(before).empty());
  program simplified = before;
  CHECK(overdub::pass::simplify(simplified) > 0);
  REQUIRE(faults_of(simplified).empty());
  auto compare = [&](T x, T y, T z, bool truth) {
    std::vector<reference::value> const in{
        reference::of_number(x), reference::of_number(y), reference::of_number(z),
        reference::of_number(truth)};
    auto const expected = reference::run(before, in);
    INFO(law.left << " is " << law.right << " for " << +x << ", " << +y << ", " << +z << ", " << truth);
    REQUIRE(expected == reference::run(simplified, in));
  };
  std::vector<T> numbers;
  if constexpr (std::is_same_v<T, bool>)
    numbers = {false, true};
  else
    for (T const x : corner_cases<T>()) numbers.push_back(x);
  for (T const x : numbers)
    for (T const y : numbers)
      for (bool const truth : {false, true}) compare(x, y, x, truth);
  random_program::random_numbers random(7);
  for (int i = 0; i < 200; ++i) {
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

} // namespace

TEST_CASE("every law that is a pattern holds to the bit, and is applied") {
  for (overdub::pass::rule const& law : overdub::pass::laws) {
    if (law.rewrite != nullptr) continue;
    INFO(law.left << " is " << law.right);
    if (holds_on(law.types, i64)) check<std::int64_t>(law, i64);
    if (holds_on(law.types, f32)) check<float>(law, f32);
    if (holds_on(law.types, f64)) check<double>(law, f64);
    if (holds_on(law.types, boolean)) check<bool>(law, boolean);
  }
}

TEST_CASE("lengths and elements are those that arrays were made with") {
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

TEST_CASE("an element whose index may be out of range is still read") {
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

TEST_CASE("what a loop does not change leaves it, and a loop that runs once is its body") {
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

TEST_CASE("branches that compute nothing are selections, closures that are applied are called") {
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

TEST_CASE("divisions by powers of two are products, where the reciprocal is exact") {
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
