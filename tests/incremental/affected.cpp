// The analysis that finds the iterations of a map that a change affects, as text.
#include "catch.hpp"

#include <overdub/implementation/incremental/affected_iterations.hpp>
#include <overdub/ir/parse.hpp>

#include <string>
#include <string_view>

namespace affected_by_changes {

using namespace overdub;
using namespace overdub::increments;

enum class changed { element, list, as_a_whole };

// How a change of the first parameter affects the first map of a function.
inline std::string affected_by(changed how, std::string_view text) {
  ir::program const p = ir::parse(text);
  increments::layout saved(p[p.entry]);
  ir::shapes const shapes(p[p.entry]);
  update_code code(p, p.entry, saved, shapes);
  value_changes known(code);
  change& c = known.set_change(p[p.entry].argument(ir::function::body, 0));
  if (how == changed::element) c.deltas.push_back({.index = code.cursor.free_value(ir::i64)});
  if (how == changed::list)
    c.deltas.push_back({.list = code.cursor.free_value(ir::i64.array_of()), .is_sorted = true});
  c.whole = how == changed::as_a_whole;
  for (ir::node_id const n : code.original().nodes_of(ir::function::body))
    if (code.original()[n].code == ir::op::map)
      return "\n" + text_of(find_affected(code, known, n), ir::names_of_values(p, p[p.entry]));
  return {};
}

constexpr std::string_view neighbours = R"(
entry @f
func @f(%x: f64[]) -> f64[] {
  %n = length %x : i64
  %y = map %n (%i: i64) -> f64 {
    %before = sub %i, 1 : i64
    %after = add %i, 1 : i64
    %a = at %x, %before : f64
    %b = at %x, %i : f64
    %c = at %x, %after : f64
    %again = at %x, %i : f64
    %ab = add %a, %b : f64
    %abc = add %ab, %c : f64
    %sum = add %abc, %again : f64
    yield %sum
  }
  return %y
})";

TEST_CASE("the index of a changed element determines the iterations that read it at their own index, or next to it") {
  CHECK(affected_by(changed::element, neighbours) == R"(
reads the element at %i: its index
reads the element at %after: its index - 1, if not negative
reads the element at %before: its index + 1, if below the trip count
)");
  CHECK(affected_by(changed::list, neighbours) == R"(
reads the elements at %i: their indices
reads the elements at %after: their indices - 1, if not negative
reads the elements at %before: their indices + 1, if below the trip count
)");
  CHECK(affected_by(changed::as_a_whole, neighbours) == R"(
all, since a value that all iterations use changed
)");
}

TEST_CASE(
    "several literals in an index, and in the trip count, are one difference from the iteration's index") {
  CHECK(affected_by(changed::element, R"(
entry @f
func @f(%x: f64[]) -> f64[] {
  %n = length %x : i64
  %m = sub %n, 1 : i64
  %l = add -1, %m : i64
  %y = map %l (%i: i64) -> f64 {
    %next = add %i, 1 : i64
    %second = add 1, %next : i64
    %a = at %x, %next : f64
    %b = at %x, %second : f64
    %c = at %x, %i : f64
    %ab = add %a, %b : f64
    %abc = add %ab, %c : f64
    yield %abc
  }
  return %y
})") == R"(
reads the element at %i: its index, if below the trip count
reads the element at %second: its index - 2, if not negative
reads the element at %next: its index - 1, if not negative, if below the trip count
)");
}

TEST_CASE("the reverse index of an array of indices finds the iterations that read at them") {
  CHECK(affected_by(changed::element, R"(
entry @f
func @f(%x: f64[], %z: i64[]) -> f64[] {
  %n = length %z : i64
  %y = map %n (%i: i64) -> f64 {
    %k = at %z, %i : i64
    %e = at %x, %k : f64
    yield %e
  }
  return %y
})") == R"(
reads the element at %k: the iterations where %z is its index
)");
}

TEST_CASE("the length of an array is that of its updates") {
  CHECK(affected_by(changed::element, R"(
entry @f
func @f(%x: f64[], %z: i64[], %k: i64) -> f64[] {
  %w = update %z, 0, %k : i64[]
  %n = length %z : i64
  %y = map %n (%i: i64) -> f64 {
    %j = at %w, %i : i64
    %e = at %x, %j : f64
    yield %e
  }
  return %y
})") == R"(
reads the element at %j: the iterations where %w is its index
)");
  CHECK(affected_by(changed::element, R"(
entry @f
func @f(%x: f64[], %k: i64) -> f64[] {
  %w = update %x, 0, 2.0 : f64[]
  %n = length %w : i64
  %m = sub %n, 1 : i64
  %y = map %m (%i: i64) -> f64 {
    %j = add %i, 1 : i64
    %e = at %x, %j : f64
    yield %e
  }
  return %y
})") == R"(
reads the element at %j: its index - 1, if not negative
)");
}

TEST_CASE("the reverse index of an index that iterations compute finds the iterations that read at it") {
  CHECK(affected_by(changed::list, R"(
entry @f
func @f(%x: f64[], %n: i64) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %k = mul %i, %i : i64
    %e = at %x, %k : f64
    yield %e
  }
  return %y
})") == R"(
reads the elements at %k: the iterations where %k is one of their indices
)");
}

TEST_CASE("rows that read an element in a nested map are found by a reverse index of all reads") {
  CHECK(affected_by(changed::element, R"(
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
})") == R"(
reads the element at %k: the iterations that read it in a nested map
)");
}

TEST_CASE("an element that all iterations read must be unchanged, and an array as a whole affects all") {
  CHECK(affected_by(changed::element, R"(
entry @f
func @f(%x: f64[], %k: i64) -> f64[] {
  %n = length %x : i64
  %y = map %n (%i: i64) -> f64 {
    %a = at %x, %i : f64
    %b = at %x, %k : f64
    %d = sub %a, %b : f64
    yield %d
  }
  return %y
})") == R"(
reads the element at %i: its index
all iterations read an element that must be unchanged
)");
  CHECK(affected_by(changed::element, R"(
entry @f
func @f(%x: f64[]) -> f64[] {
  %n = length %x : i64
  %y = map %n (%i: i64) -> f64 {
    %s = reduce add %x from 0.0 : f64
    yield %s
  }
  return %y
})") == R"(
all, since an array whose elements changed is used as a whole
)");
}

} // namespace affected_by_changes
