// A shape analysis: which arrays have one shape in all iterations. The saved values of all iterations of a map or loop are one array of
// arrays, whose rows must have one length.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <string>
#include <vector>

namespace overdub::increments {

/// The shapes of a function that are proved to be invariant.
struct invariant_shapes {
  // By value, an argument of a loop's body: the loop-carried array has its initial shape in all iterations.
  std::vector<bool> loop_carried;
  // By operation, a map or loop: its trip count is the same in all iterations of the enclosing maps and loops.
  std::vector<bool> trip_counts;
  // By value: the array has one shape in all iterations of the enclosing maps and loops.
  std::vector<bool> arrays;
};

/// Loop-carried arrays are proved by induction: each iteration returns the array with the shape that it had. O(operations), and for each
/// loop-carried array at most 1000 operations of its loop.
invariant_shapes find_invariant_shapes(ir::function const& f);

/// A line for each map and loop, with what is invariant of it, by the names of the printed function.
std::string text_of(invariant_shapes const& shapes, ir::program const& p, ir::function const& f);

/// Whether a region is enclosed by branches alone.
bool is_outside_loops(ir::function const& f, ir::region_id r);

} // namespace overdub::increments
