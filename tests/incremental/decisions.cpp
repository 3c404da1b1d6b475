// The text of update programs: for each way of update, the guards, the arguments, the operations that run, and what a commit writes.
#include "catch.hpp"

#include <overdub/implementation/incremental/update_program_text.hpp>
#include <overdub/incremental/make_update_program.hpp>
#include <overdub/ir/parse.hpp>

#include <string>
#include <string_view>

namespace update_decisions {

using namespace overdub;
using increments::disabled_guards;
using increments::input_change;

constexpr input_change element{.elements = 1, .indices = 1},
    list{.elements = input_change::listed, .indices = 1}, appended{.elements = 1, .appended = true},
    appended_list{.elements = input_change::listed, .appended = true}, whole{.whole = true};

// The text of a function's update program. Inputs and results are saved, and the values that the program adds.
inline std::string
decided(std::string_view text, increments::change_signature const& changes, disabled_guards const& d = {}) {
  ir::program const p = ir::parse(text);
  ir::function const& f = p[p.entry];
  increments::layout saved(f);
  for (ir::value_id const v : f.operands_of(f.yield_of(ir::function::body)))
    saved.add({.of = v, .type = f.type_of(v), .what = increments::variable::role::saved});
  increments::update_program const u = increments::make_update_program(p, p.entry, saved, changes, d);
  return "\n" + increments::update_program_text(p, f).of(u, saved);
}

constexpr std::string_view sum_of_squares = R"(
entry @f
func @f(%x: f64[]) -> f64 {
  %n = length %x : i64
  %y = map %n (%i: i64) -> f64 {
    %e = at %x, %i : f64
    %q = mul %e, %e : f64
    yield %q
  }
  %s = reduce add %y from 0.0 : f64
  return %s
})";

constexpr std::string_view element_of_map = R"(
entry @f
func @f(%x: f64[], %k: i64) -> f64 {
  %n = length %x : i64
  %y = map %n (%i: i64) -> f64 {
    %e = at %x, %i : f64
    %w = exp %e : f64
    yield %w
  }
  %r = at %y, %k : f64
  return %r
})";

constexpr std::string_view differences = R"(
entry @f
func @f(%x: f64[]) -> f64[] {
  %n = length %x : i64
  %m = sub %n, 1 : i64
  %y = map %m (%i: i64) -> f64 {
    %j = add %i, 1 : i64
    %a = at %x, %i : f64
    %b = at %x, %j : f64
    %d = sub %b, %a : f64
    yield %d
  }
  return %y
})";

constexpr std::string_view gathered = R"(
entry @f
func @f(%x: f64[], %z: i64[]) -> f64[] {
  %n = length %z : i64
  %y = map %n (%i: i64) -> f64 {
    %k = at %z, %i : i64
    %e = at %x, %k : f64
    yield %e
  }
  return %y
})";

constexpr std::string_view loop = R"(
entry @f
func @f(%x: f64[], %a: f64) -> f64 {
  %n = length %x : i64
  %s = loop %n (%t: i64, %p: f64 = %a) -> f64 {
    %e = at %x, %t : f64
    %h = mul %p, 0.5 : f64
    %q = add %h, %e : f64
    yield %q
  }
  return %s
})";

constexpr std::string_view maximum = R"(
entry @f
func @f(%x: f64[]) -> f64 {
  %m = reduce max %x : f64
  %n = length %x : i64
  %y = map %n (%i: i64) -> f64 {
    %e = at %x, %i : f64
    %d = sub %e, %m : f64
    %w = exp %d : f64
    yield %w
  }
  %s = reduce add %y from 0.0 : f64
  return %s
})";

constexpr std::string_view branch = R"(
entry @f
func @f(%x: f64[], %c: bool) -> f64 {
  %n = length %x : i64
  %r = if %c -> f64 {
    %y = map %n (%i: i64) -> f64 {
      %e = at %x, %i : f64
      %w = exp %e : f64
      yield %w
    }
    %s = reduce add %y from 0.0 : f64
    yield %s
  } else {
    yield 0.0
  }
  return %r
})";

constexpr std::string_view product = R"(
entry @f
func @f(%x: f64[], %columns: i64[][]) -> f64[] {
  %n = length %columns : i64
  %y = map %n (%i: i64) -> f64 {
    %row = at %columns, %i : i64[]
    %m = length %row : i64
    %terms = map %m (%j: i64) -> f64 {
      %k = at %row, %j : i64
      %e = at %x, %k : f64
      yield %e
    }
    %s = reduce add %terms from 0.0 : f64
    yield %s
  }
  return %y
})";

TEST_CASE("an element of an array runs one iteration, and changes a sum by the difference") {
  CHECK(decided(sum_of_squares, {element}) == R"(
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: saved %y
argument: saved %s
argument: saved the compensation of %s
%q = mul: recomputed, in an iteration of %y
%y = map: one iteration
%s = reduce: updated by the difference
commit: puts %y[]
commit: adds to %s
)");
  CHECK(decided(sum_of_squares, {list}) == R"(
argument: indices of changed elements of %x
argument: changed elements of %x
argument: saved %y
argument: saved %s
argument: saved the compensation of %s
%q = mul: recomputed, in an iteration of %y
%y = map: a list of iterations
%s = reduce: updated by the difference
commit: puts %y[each]
commit: adds to %s
)");
  CHECK(decided(sum_of_squares, {appended}) == R"(
argument: saved %x
argument: changed element 0 of %x
argument: saved %s
argument: saved the compensation of %s
%n = length: recomputed
%q = mul: recomputed, in an iteration of %y
%y = map: one appended iteration
%s = reduce: updated by the difference
commit: appends to %y[]
commit: adds to %s
)");
  CHECK(decided(sum_of_squares, {appended_list}) == R"(
argument: saved %x
argument: changed elements of %x
argument: saved %s
argument: saved the compensation of %s
%n = length: recomputed
%q = mul: recomputed, in an iteration of %y
%y = map: the appended iterations
%s = reduce: updated by the difference
commit: appends to %y[each]
commit: adds to %s
)");
  CHECK(decided(sum_of_squares, {whole}) == R"(
argument: new %x
%n = length: recomputed
%y = map: recomputed in full, since its trip count may have changed
%s = reduce: recomputed in full, since all elements may have changed
commit: puts %s
)");
}

TEST_CASE("a read is guarded not to be of a changed element, and otherwise needs the old array") {
  CHECK(decided(element_of_map, {element, {}}) == R"(
guard: %r is unchanged
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: saved %k
%w = exp: recomputed, in an iteration of %y
%y = map: one iteration
%r = at: unchanged
)");
  CHECK(decided(element_of_map, {element, {}}, {.all = true, .of = {}}) == R"(
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: saved %k
argument: saved %y
%w = exp: recomputed, in an iteration of %y
%y = map: one iteration
%r = at: recomputed
commit: puts %y[]
commit: puts %r
)");
}

TEST_CASE("elements at two indices run the iterations that read either") {
  CHECK(decided(differences, {element}) == R"(
guard: the affected iteration 1 of index %i exists
guard: the affected iteration 2 of index %i exists
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: saved %x
argument: saved %m
%d = sub: recomputed, in an iteration of %y
%y = map: one iteration
%d = sub: recomputed, in an iteration of %y
%y = map: one iteration
commit: puts %y[]
commit: puts %y[]
)");
}

TEST_CASE("iterations that read a changed element at a computed index are found by a reverse index") {
  CHECK(decided(gathered, {element, {}}) == R"(
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: iterations whose %z is an index of changed %x
%y = map: a list of iterations
commit: puts %y[each]
)");
}

TEST_CASE("a map that must be recomputed in full has no iterations as arguments, and emits no guards") {
  std::string_view const text = R"(
entry @f
func @f(%x: f64[], %z: i64[]) -> f64[] {
  %n = length %z : i64
  %y = map %n (%i: i64) -> f64 {
    %k0 = at %z, %i : i64
    %k = add %k0, %i : i64
    %e = at %x, %k : f64
    %b = at %x, 0 : f64
    %q = mul %e, %b : f64
    yield %q
  }
  return %y
})";
  CHECK(decided(text, {element, {}}, {.all = true, .of = {}}) == R"(
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: saved %z
argument: saved %x
%y = map: recomputed in full, since an element that all iterations use may have changed
commit: puts %y
)");
}

TEST_CASE("a loop runs from the first affected iteration on") {
  CHECK(decided(loop, {element, {}}) == R"(
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: saved %x
argument: saved %p
argument: saved %s
%h = mul: recomputed, in an iteration of %s
%q = add: recomputed, in an iteration of %s
%s = loop: from the first affected iteration on
commit: puts consecutive elements of %p[]
commit: puts %s
)");
  CHECK(decided(loop, {appended, {}}) == R"(
argument: saved %x
argument: changed element 0 of %x
argument: saved %s
%n = length: recomputed
%h = mul: recomputed, in an iteration of %s
%q = add: recomputed, in an iteration of %s
%s = loop: one appended iteration
commit: puts %s
)");
  CHECK(decided(loop, {{}, whole}) == R"(
argument: new %a
argument: saved %a
argument: saved %x
argument: saved %p
argument: saved %s
%h = mul: recomputed, in an iteration of %s
%q = add: recomputed, in an iteration of %s
%s = loop: from the first affected iteration on
commit: puts consecutive elements of %p[]
commit: puts %s
)");
}

TEST_CASE("a reduction is updated along a path of its tree, and guards that its result is unchanged") {
  CHECK(decided(maximum, {element}) == R"(
guard: %m is unchanged
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: saved the tree of %m
argument: saved %x
argument: saved %m
argument: saved %y
argument: saved %s
argument: saved the compensation of %s
%m = reduce: updated along a path of its tree
%m = reduce: unchanged
%d = sub: recomputed, in an iteration of %y
%w = exp: recomputed, in an iteration of %y
%y = map: one iteration
%s = reduce: updated by the difference
commit: puts the tree of %m[each]
commit: puts the tree of %m[]
commit: puts %y[]
commit: adds to %s
)");
  CHECK(decided(maximum, {element}, {.all = true, .of = {}}) == R"(
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: saved the tree of %m
argument: saved %x
%m = reduce: updated along a path of its tree
%y = map: recomputed in full, since a value that all iterations use changed
%s = reduce: recomputed in full, since all elements may have changed
commit: puts the tree of %m[each]
commit: puts the tree of %m[]
commit: puts %s
)");
}

TEST_CASE("the operations of the branch that is taken are updated") {
  CHECK(decided(branch, {element, {}}) == R"(
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: saved %c
argument: saved %y
argument: saved %s
argument: saved the compensation of %s
argument: saved %r
%w = exp: recomputed, in an iteration of %y
%y = map: one iteration
%s = reduce: updated by the difference
%r = if: the affected operations of its branch
commit: puts %y[], on a condition
commit: adds to %s, on a condition
commit: puts %r
)");
  CHECK(decided(branch, {{}, whole}) == R"(
argument: new %c
argument: saved %c
argument: saved %x
argument: saved %r
%r = if: the affected operations of its branch
commit: puts %r
)");
}

TEST_CASE("rows that read a changed element in a nested map are found by a reverse index") {
  CHECK(decided(product, {element, {}}) == R"(
argument: index 0 of changed element 0 of %x
argument: changed element 0 of %x
argument: iterations that read changed elements of %x at %k
argument: saved %columns
argument: saved %x
%terms = map: recomputed in full, in an iteration of %y, since elements are read at a computed index, in a loop or in a nested map
%s = reduce: recomputed in full, in an iteration of %y, since all elements may have changed
%y = map: a list of iterations
commit: puts %y[each]
)");
}

} // namespace update_decisions
