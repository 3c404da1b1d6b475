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
  pattern const left(law.left), right(law.right);
  program const before = computation(t).of(left);
  // The right side may be a number by itself: then its type is that of the left side.
  program after = before;
  {
    type const result = before[before.entry].results[0];
    after = right.root().is == pattern::node::kind::number ? computation(result).of(right)
                                                           : computation(t).of(right);
  }
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
    if (after[after.entry].parameters().size() == 4 &&
        after[after.entry].type_of(after[after.entry].argument(function::body, 0)) == t)
      REQUIRE(expected == reference::run(after, in));
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

TEST_CASE("random programs that are simplified are valid, and mean the same, errors included") {
  laws::hold_for(overdub::pass::simplify, laws::errors::same, 0, 2000, {}, false);
}
