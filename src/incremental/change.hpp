// How a value of the function changes, as far as the update program knows when it is written.
#pragma once

#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/function.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace overdub::increments {

using ir::function;
using ir::node_id;
using ir::op;
using ir::region_id;
using ir::value_id;

struct change;

/// Changed elements of an array: one, at `index`, or those at the indices in `list`. Deltas of one array may overlap; their elements are
/// then equal.
struct delta {
  value_id index = ir::nothing;
  value_id list = ir::nothing;
  value_id valid = ir::nothing;   // the condition that the element changed; nothing, if it is certain
  value_id element = ir::nothing; // the new value; an array, for a list
  // by how much it changes a sum of the array; 0 where `valid` does not hold, or where an earlier delta has the same element
  value_id difference = ir::nothing;
  // the change of an element that is an array, where only elements of it changed
  change const* nested = nullptr;
  // Deltas of one source have different indices if their ordinals differ and their shifts are equal, or if their ordinals are equal and
  // their shifts differ.
  std::uint32_t source = 0, ordinal = 0;
  std::int64_t shift = 0;
  bool is_sorted = false; // `list` is the source's ascending list, or a consecutive part of it, shifted
  value_id skipped = ir::nothing; // how many of the source's first elements are not in `list`
  // `list` has the iterations whose saved index, the variable `keys`, equals `key`, or one of the source's list. A reverse index finds
  // them.
  struct reverse_lookup {
    std::uint32_t keys = layout::none;
    value_id key = ir::nothing;
  };
  reverse_lookup found_by = {};
  // Or the indices from `first` to `end`.
  value_id first = ir::nothing, end = ir::nothing;
  bool is_appended = false; // the elements were appended
};

/// How a value changed: as a whole, or at elements.
struct change {
  bool whole = false;
  value_id new_value = ir::nothing;
  value_id difference = ir::nothing; // of a sum: its difference, where it is known
  std::vector<delta> deltas;
  // Of a trip count: the indices of appended iterations. `minimum` is a lower bound of its old value.
  std::vector<value_id> appended_indices;
  std::int64_t minimum = 0;
  // Or a list of appended iterations, whose indices are consecutive.
  value_id appended_list = ir::nothing, first_appended = ir::nothing, appended_count = ir::nothing;
  bool has_appended() const { return !appended_indices.empty() || appended_list != ir::nothing; }
  // the input, to whose memory the new elements were appended already
  std::uint32_t appended_input = layout::none;
  std::uint32_t listed_input = layout::none; // the input of which a list of elements changed
};

/// Whether changed_lists can search a delta's list.
inline bool is_searchable(delta const& p) { return p.is_sorted || p.first != ir::nothing; }

inline bool has_conditional(change const& c) {
  return std::any_of(c.deltas.begin(), c.deltas.end(), [](delta const& p) { return p.valid != ir::nothing; });
}

inline bool has_appended_elements(change const& c) {
  return std::any_of(c.deltas.begin(), c.deltas.end(), [](delta const& p) { return p.is_appended; });
}

inline bool has_unsearchable_list(change const& c) {
  return std::any_of(c.deltas.begin(), c.deltas.end(), [](delta const& p) {
    return (p.list != ir::nothing && !is_searchable(p)) ||
           (p.nested != nullptr && has_unsearchable_list(*p.nested));
  });
}

inline bool has_only_lists(change const& c) {
  return std::all_of(c.deltas.begin(), c.deltas.end(), [](delta const& p) { return p.list != ir::nothing; });
}

} // namespace overdub::increments
