// How a map is compiled. The plan is made before any of its code is emitted, but for the check that look_ahead.hpp emits before the map.
#pragma once

#include "bounds_checks.hpp"
#include "function.hpp"

#include <optional>
#include <vector>

namespace overdub::jit {

/// A result of a map that is an array.
struct mapped {
  value_id result, yielded;
  bool fills_rows; // each row is made in place, by the map that creates it
};
/// A map whose only use is a sum.
struct summed {
  value_id result, yielded;
  node_id reduction;
};

/// Outer-loop vectorisation of a map (points.hpp): what must hold of the trip counts of loops in its body.
struct points_plan {
  value_ids counts{};       // trip counts, if one may be negative
  value_ids at_least_one{}; // trip counts of reductions without an initial value
  bool has_sums_alone = true;
  bool reads_apart = false; // reads elements with a stride
};
/// Loop fission of a map (blocks.hpp).
struct blocks_plan {
  std::vector<bool> ends; // for each operation: whether it is in the second part
  value_ids crossing;     // the values that the first part passes to the second
};

struct map_plan {
  std::vector<mapped> arrays;
  std::vector<summed> sums;
  std::optional<check_plan> vectors; // the whole map in vectors (sums.hpp); nothing else is set then
  std::optional<points_plan> points; // a version for trip counts that fit, before the following
  std::optional<blocks_plan> blocks; // otherwise element by element
};
/// O(operations).
map_plan plan_map(function_state const&, node_id n);

/// Whether a vector operation takes no longer than the scalar ones: other function calls do not profit; masked lanes must
/// not divide integers.
bool is_light(function_state const&, ir::op code, ir::type t);
/// The reduction of a map's result by an operation for vectors, if it is the only use.
node_id vector_reduction_of(function_state const&, value_id v);

} // namespace overdub::jit
