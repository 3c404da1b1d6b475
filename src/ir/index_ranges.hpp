// The ranges of indices over all iterations of a loop and of nested loops, and the accesses that one check before the loop covers. Data
// alone: src/jit emits the check.
//
// The check compares the smallest and the largest index with the extent. It covers an access only if some iteration is certain to run it
// with the smallest index, and some iteration with the largest. Accesses in branches are not covered, nor accesses in loops whose trip
// counts are unknown or vary with the same loop as the index.
//
// Machine code has a second plan of checks, jit/bounds_checks.hpp, since there a check that fails has another consequence. Here the whole
// program runs again in the interpreter: so the program must be repeatable, and a check may fail only if an access does; but the loop is
// emitted once, so it may be large, and have nested loops. There a second version of the loop runs: so any program has such checks, also of
// accesses that may not run; but the loop is emitted twice, so it is small. Which accesses remain to be checked, and of which arrays, is
// common (unchecked_access.hpp). The interpreter has neither plan: its lanes compare the ends of a block's indices when the block runs
// (execute/block_handlers.hpp), which is cheap beside the block.
#pragma once

#include <overdub/implementation/ir/in_place.hpp>
#include <overdub/implementation/ir/known_in_range.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace overdub::ir {

/// The number of a range, or of a loop, in a plan.
using plan_number = std::uint32_t;

/// The range of an integer over all iterations, by how its ends are computed.
struct index_range {
  enum class kind : std::uint8_t {
    outside,   // a value that is defined before the loop: both ends are equal
    index,     // the index of a loop: from 0 to its largest trip count - 1
    invariant, // an operation on such values
    varying    // an operation on ranges of which at least one varies
  };
  kind is;
  value_id value{};   // of `outside`
  plan_number loop{}; // of `index`
  op code{};          // of an operation, on x and y
  plan_number x{}, y{};
  std::vector<region_id> loops{}; // the bodies of the loops with whose indices it varies
  bool may_overflow = false;      // whether an end may overflow in its computation
};

/// A check of one index of an access.
struct index_check {
  std::uint32_t axis;
  plan_number range;
  /// If the index is a loop's index plus an invariant value: the loop, and the range of that value.
  struct shifted_index {
    plan_number loop, shift;
  };
  std::optional<shifted_index> shifted{};
};

/// A check of an access.
struct ahead_check {
  node_id access;
  value_id array; // which is defined before the loop, with the extents of the array that is accessed
  std::vector<index_check> indices;
  std::vector<plan_number>
      inside; // the nested loops that contain the access: it runs unless one has no iterations
};

/// A loop whose iterations a check covers.
struct ahead_loop {
  region_id body;
  plan_number trip_count; // its range
};

/// What a check before a loop covers.
struct ahead_plan {
  std::vector<index_range> ranges; // operands before operations
  std::vector<ahead_loop> loops;   // the first is the outermost
  std::vector<ahead_check> checks;
};

/// Plans the check before the loop with this body. O(operations × nested loops).
ahead_plan plan_ahead(function const&, in_place_arrays const&, known_in_range const&, region_id body);

/// A line for each loop with its trip count, and for each access with the ranges of its indices.
std::string text_of(ahead_plan const& plan, program const& p, function const& f);

} // namespace overdub::ir
