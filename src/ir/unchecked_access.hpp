// The accesses of a loop that a check before the loop may cover, whatever the check is: which indices are not known to be in range, and
// which array has the extents before the loop. Two plans of such checks start here: ir/index_ranges.hpp and jit/bounds_checks.hpp.
#pragma once

#include <overdub/implementation/ir/in_place.hpp>
#include <overdub/implementation/ir/known_in_range.hpp>
#include <overdub/implementation/ir/operands.hpp>
#include <overdub/implementation/ir/update_chain.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace overdub::ir {

/// An `at`, `update` or `add_to` in a loop.
struct unchecked_access {
  node_id access;
  std::vector<std::uint32_t> axes; // those whose indices are not known to be in range
  /// The array before the loop, with the extents of the one that is accessed; nothing, if they are not known there. Arrays that the loop
  /// creates vary in size, except loop-carried ones that are updated in place.
  value_id array = nothing;
};

/// An operation in the loop with this body as an access; nothing, if it is no access. O(updates of the array).
inline std::optional<unchecked_access> unchecked_access_of(
    function const& f, in_place_arrays const& in_place, known_in_range const& in_range, region_id body,
    node_id n) {
  op const code = f[n].code;
  if (code != op::at && code != op::update && code != op::add_to) return {};
  unchecked_access found{n, {}};
  for (std::uint32_t k = 0; k < index_count(f, n); ++k)
    if (!in_range.has(n, k)) found.axes.push_back(k);
  value_id const array = f.operand(n, 0), carried = before_updates(f, array, any_number);
  auto const is_outside = [&](value_id v) { return !is_defined_in(f, v, body); };
  if (in_place.has(carried) && (f.region_of(carried) == body || is_outside(carried)))
    found.array = carried;
  else if (is_outside(array))
    found.array = array;
  return found;
}

} // namespace overdub::ir
