// Which counted loops compute the same as a map, and how each of their loop-carried values is had without the loop: the recurrences that
// need no earlier iteration, and sums. Data alone: raise_loops.cpp follows it.
//
// A loop is raised if each loop-carried value is
//
// - unchanged: each iteration yields the value that it receives;
// - a counter: each iteration adds one invariant integer, so that iteration i receives initial + i * step, modulo 2^64;
// - a sum: each iteration combines the value with a term, and nothing else uses it. The terms are a result of the map, which is reduced:
//   in order, or in any order if the operation is associative to the bit;
// - elements: an array as long as the loop's trip count, of which iteration i replaces the element i, and reads no element but the i-th,
//   which no other iteration writes. So it reads the initial array, and the new elements are a result of the map.
//
// The body is that of the map, in its order, and a map fails as its first iteration that fails. The body must have no side effects. What
// is removed from it cannot fail: the combining operations are total, and the replaced elements are in range, since the array is as long
// as the trip count. Loops that run backwards are not raised, nor loops in an iteration of a loop that remains: it runs in order anyway.
#pragma once

#include <overdub/ir/effects.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::pass {

/// How a loop-carried value is had without the loop.
struct carried_plan {
  enum class kind : std::uint8_t { unchanged, counter, sum, elements } is;
  ir::node_id made_by = ir::nothing; // counter, sum, elements: the operation of the next value, in the body
  /// The other operand of the operation: the step, the term, the new element. An index, since the operand may be substituted.
  std::uint32_t operand = 0;
};

/// A loop that is raised, or why it remains.
struct loop_plan {
  ir::node_id loop;
  std::vector<carried_plan> carried;  // for each loop-carried value
  std::string_view remains = {};      // why; empty, if it is raised
  ir::value_id culprit = ir::nothing; // the loop-carried value that is none of these, if that is why
};

/// The counted loops of a function with loop-carried values, outer ones first.
using raise_plan = std::vector<loop_plan>;

/// O(operations, and uses of loop-carried values).
raise_plan plan_to_raise(ir::effects const& known, ir::function const& f);

/// Whether a sum of terms is equal to the bit in any order.
bool is_associative(ir::op combine, ir::type t);

/// A line for each loop, and one for each of its loop-carried values, by the names of the printed function.
std::string text_of(raise_plan const& plan, ir::program const& p, ir::function const& f);

} // namespace overdub::pass
