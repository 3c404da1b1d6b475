// The ranges of indices over all iterations of a loop and of nested loops, and the accesses that one check before the
// loop covers. Emits nothing.
//
// The check compares the smallest and the largest index with the extent. It covers an access only if some iteration is
// certain to run it with the smallest index, and some iteration with the largest. Accesses in branches are not
// covered, nor accesses in loops whose trip counts are unknown or vary with the same loop as the index.
#pragma once

#include "known_in_range.hpp"

#include <overdub/implementation/ir/in_place.hpp>

#include <cstdint>
#include <llvm/ADT/SmallVector.h>
#include <optional>
#include <vector>

namespace overdub::jit {

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
  ir::value_id value{}; // of `outside`
  plan_number loop{};   // of `index`
  ir::op code{};        // of an operation, on x and y
  plan_number x{}, y{};
  llvm::SmallVector<ir::region_id, 4> loops{}; // the bodies of the loops with whose indices it varies
  bool may_overflow = false;                   // whether an end may overflow in its computation
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
  ir::node_id access;
  ir::value_id array; // which is defined before the loop, with the extents of the array that is accessed
  llvm::SmallVector<index_check, 2> indices;
  llvm::SmallVector<plan_number, 4>
      inside; // the nested loops that contain the access: it runs unless one has no iterations
};

/// What a check before a loop covers.
struct ahead_plan {
  std::vector<index_range> ranges; // operands before operations
  std::vector<plan_number>
      loops; // for each loop, of which the first is the outermost: the range of its trip count
  std::vector<ahead_check> checks;
};

/// Plans the check before the loop with this body. O(operations × nested loops).
ahead_plan
plan_ahead(ir::function const&, ir::in_place_arrays const&, known_in_range const&, ir::region_id body);

} // namespace overdub::jit
