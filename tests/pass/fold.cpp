// Constant folding.
#include "pass/laws.hpp"
#include "property.hpp"

#include <overdub/pass/fold.hpp>

#include <array>

namespace {

using namespace overdub::ir;
void fold(program& p) { overdub::pass::fold(p); }

// An operation on literals, as a program.
template <class T>
program on_literals(op code, type t, std::initializer_list<T> numbers) {
  program p;
  p.entry = p.add("f", {});
  cursor c(p, p.entry, function::body);
  std::vector<value_id> operands;
  for (T const x : numbers) operands.push_back(c.literal(t, reference::of_number(x).bits));
  node_id const n = c.insert(code, operands);
  p[p.entry].results = {c->type_of(c->result(n))};
  c.yield(std::array{c->result(n)});
  return p;
}

// Folded results have the bits of the run-time results.
template <class T>
void folds_exactly(type t) {
  property([&] {
    T const x = any<T>(), y = any<T>(), z = any<T>();
    for (std::size_t i = 0; i < op_count; ++i) {
      auto const code = static_cast<op>(i);
      if (!is_elementwise(code) || code == op::digamma || code == op::polygamma || code == op::select)
        continue;
      std::vector<type> const types(row_of(code).least, t);
      std::vector<type> results;
      std::string why;
      program p;
      if (!infer(p, code, types, {}, results, why)) continue;
      p = row_of(code).least == 1   ? on_literals(code, t, {x})
          : row_of(code).least == 2 ? on_literals(code, t, {x, y})
                                    : on_literals(code, t, {x, y, z});
      program folded = p;
      fold(folded);
      RC_ASSERT(reference::run(p, {}) == reference::run(folded, {}));
    }
  });
}

} // namespace

TEST_CASE("operations on literals are folded to the bit") {
  folds_exactly<double>(f64);
  folds_exactly<float>(f32);
  folds_exactly<std::int64_t>(i64);
  folds_exactly<bool>(boolean);
}

TEST_CASE("elementary functions, divisions by zero and NaNs are not folded") {
  std::string_view const text = R"(
func @f() -> (f64, i64, f64, f64) {
  %s = sin 1.0 : f64
  %d = div 1, 0 : i64
  %n = sub inf, inf : f64
  %p = pow 2.0, 2.0 : f64
  return %s, %d, %n, %p
})";
  laws::rewrites(fold, text, text);
}

TEST_CASE("a branch on a literal is the taken branch, and a loop without iterations its initial values") {
  laws::rewrites(
      fold, R"(
func @f(%x: f64) -> (f64, f64, f64[], f64[]) {
  %c = lt 1, 2 : bool
  %b = if %c -> f64 {
    %s = sin %x : f64
    yield %s
  } else {
    %e = div 1, 0 : i64
    yield %x
  }
  %n = sub 2, 2 : i64
  %l, %o = loop %n (%i: i64, %y: f64 = %x) -> f64 stack f64 {
    yield %y, %y
  }
  %m = map 0 (%i2: i64) -> f64 { yield %x }
  return %b, %l, %o, %m
})",
      R"(
func @f(%x: f64) -> (f64, f64, f64[], f64[]) {
  %s = sin %x : f64
  %o = array : f64[]
  %m = array : f64[]
  return %s, %x, %o, %m
})");
}

TEST_CASE("of a while loop that never runs, the condition remains, since it may fail") {
  laws::rewrites(
      fold, R"(
func @f(%a: f64[]) -> f64 {
  %r = while (%x: f64 = 1.0) -> f64 {
    %e = at %a, 0 : f64
    yield false
  } do (%x2: f64) {
    %y = add %x2, 1.0 : f64
    yield %y
  }
  return %r
})",
      R"(
func @f(%a: f64[]) -> f64 {
  %e = at %a, 0 : f64
  return 1.0
})");
}
