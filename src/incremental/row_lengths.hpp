// Whether the rows that an update program writes have the length of the rows that are saved.
#pragma once

#include <overdub/incremental/bound_update.hpp>
#include <overdub/incremental/saved_values.hpp>
#include <overdub/incremental/update_results.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace overdub::increments {

/// Whether the rows that a store writes have the length of the others.
inline bool rows_fit(store const& s, bound_call const& from, saved_values const& saved) {
  if (s.path.empty() || s.value.result == update_value::none) return true;
  bool const are_several = s.each || s.does == store::action::put_range;
  std::size_t const indices = s.path.size(), skipped = are_several ? 1 : 0;
  cells const& to = saved.arrays[s.variable];
  if (to.type().rank == indices) return true;
  bool const each_is_valid = s.valid.exists() && s.each && is_array(from, s.valid);
  if (s.valid.exists() && !each_is_valid && word_of(from, s.valid) == 0) return true;
  i64 const* const extents = from.extents(s.value.result);
  if (are_several && extents[0] == 0) return true;
  if (each_is_valid) {
    std::byte const* const all = elements_of(from, s.valid);
    i64 const count = extents_of(from, s.valid)[0];
    if (std::all_of(all, all + count, [](std::byte x) { return x == std::byte{0}; })) return true;
  }
  if (to.extent(0) == 0) return false;
  for (std::size_t axis = indices; axis < to.type().rank; ++axis)
    if (extents[skipped + axis - indices] != to.extent(axis)) return false;
  return true;
}
/// The same of all stores. If it is false, a run that recomputes everything checks whether all rows have one length.
inline bool rows_fit(bound_update const& b, saved_values const& saved) {
  return std::ranges::all_of(
      b.update->program.stores, [&](store const& s) { return rows_fit(s, b.call, saved); });
}

} // namespace overdub::increments
