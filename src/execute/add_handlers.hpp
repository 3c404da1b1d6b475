// Vectorised additions to accumulators: to one with lanes, to one shared by the lanes (lane by lane, in order), and
// deferred to the end of the block.
#pragma once

#include <overdub/implementation/execute/block_handlers.hpp>
#include <overdub/implementation/execute/deferred_adds.hpp>
#include <overdub/implementation/execute/handler.hpp>

#include <cstddef>
#include <cstdint>

namespace overdub::execute {

/// The list: accumulator, rank, number of indices, indices, the lanes or the array of lanes.
template <class T>
void lane_add_row(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1], count = list[2], value = list[3 + count];
  i64 const i = part_at(frame, array, rank, list + 3, count, "add_to");
  if (count < rank) check_shape(frame, array, rank, count, value, "add_to");
  T* to = lanes_at<T>(frame, array) + i * maximum_lanes;
  T const* from = lanes_at<T>(frame, value);
  for (i64 k = scalars(frame, array, rank, count); k > 0; --k, to += maximum_lanes, from += maximum_lanes)
    for (i64 l = 0, n = m.lanes; l < n; ++l) to[l] = native::add(to[l], from[l]);
}
// The mask of the active lanes; null if all are active.
inline i64 const* mask_of(std::byte const* frame, offset word) {
  return word == 0 ? nullptr : lanes_at<bool>(frame, word);
}
/// The list: accumulator, rank, indices, the mask (0: all lanes add); b: the lanes; c: 1 if the accumulator has lanes.
template <class T>
bool lane_add(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1];
  i64 const n = m.lanes;
  T const* const from = lanes_at<T>(frame, at.b);
  T* const all = lanes_at<T>(frame, array);
  i64 const* const mask = mask_of(frame, list[2 + 3 * rank]);
  if (rank == 1 && at.c == 0 && mask == nullptr && list[2] == static_cast<offset>(indexed_by::strided) &&
      get<i64>(frame, list[4]) == 1) {
    i64 const first = get<i64>(frame, list[3]);
    if (!are_in(first, 1, n, extent(frame, array, 0))) return false;
    for (i64 i = 0; i < n; ++i) all[first + i] = native::add(all[first + i], from[i]);
    return true;
  }
  i64 to[maximum_lanes];
  if (!lane_offsets(m, frame, array, rank, list + 2, rank, to, mask)) return false;
  for (i64 i = 0; i < n; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    i64 const k = at.c != 0 ? to[i] * maximum_lanes + i : to[i];
    all[k] = native::add(all[k], from[i]);
  }
  return true;
}
/// The same for parts: b is an array of lanes, c the number of indices; the accumulator has no lanes.
template <class T>
bool lane_add_parts(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1], count = at.c;
  i64 to[maximum_lanes];
  if (!lane_offsets(m, frame, array, rank, list + 2, count, to)) return false;
  for (offset k = count; k < rank; ++k)
    if (extent(frame, array, k) != extent(frame, at.b, k - count)) return false;
  T* const all = lanes_at<T>(frame, array);
  T const* const from = lanes_at<T>(frame, at.b);
  for (i64 i = 0, n = m.lanes; i < n; ++i)
    for (i64 k = 0, size = scalars(frame, array, rank, count); k < size; ++k)
      all[to[i] + k] = native::add(all[to[i] + k], from[k * maximum_lanes + i]);
  return true;
}

// ---- deferred additions

/// The start of a block with deferred additions, and its restart.
inline void begin_adds(machine& m, std::byte*, instruction const& at) {
  m.in_lanes = &at;
  m.additions.begin();
}
/// After an iteration in the block at a: adds up cells early.
inline void add_early(machine& m, std::byte* frame, instruction const& at) {
  if (get<i64>(frame, at.a + block_words::adds_early) == 0) return;
  m.additions.add_early(m.lanes);
}
inline void finish_adds(machine& m, std::byte*, instruction const&) { m.additions.finish(m.lanes); }

enum class deferring { went_well, failed, too_many, too_early };
/// The list: accumulator, rank, number of indices, whether the value is a part, the block, indices as for lane_add, mask;
/// b: the lanes or the array of lanes. ByCell: all indices are uniform.
template <class T, bool ByCell>
deferring defer_add(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1], count = list[2];
  offset const* const indices = list + 5;
  i64 const* const mask = mask_of(frame, indices[3 * count]);
  i64 const n = m.lanes;
  if (mask != nullptr && std::none_of(mask, mask + n, [](i64 t) { return t != 0; }))
    return deferring::went_well;
  i64 offsets[ByCell ? 1 : maximum_lanes];
  if constexpr (ByCell) {
    offsets[0] = 0;
    bool is_in = true;
    for (offset k = 0; k < rank; ++k) {
      i64 const size = extent(frame, array, k);
      auto const index = k < count ? get<std::uint64_t>(frame, indices[3 * k + 1]) : 0;
      is_in = (next_offset(offsets[0], size, index) || k >= count) && is_in;
    }
    if (!is_in) return deferring::failed;
  } else if (!lane_offsets(m, frame, array, rank, indices, count, offsets, mask))
    return deferring::failed;
  bool const is_part = list[3] != 0;
  for (offset k = count; is_part && k < rank; ++k)
    if (extent(frame, array, k) != extent(frame, at.b, k - count)) return deferring::failed;
  T* const to = lanes_at<T>(frame, array);
  T const* const from = lanes_at<T>(frame, at.b);
  deferred_adds<T>& adds = m.additions.of<T>();
  for (i64 k = 0, size = is_part ? scalars(frame, array, rank, count) : 1; k < size; ++k) {
    auto const outcome = [&] {
      if constexpr (ByCell)
        return adds.add(to + offsets[0] + k, from + k * maximum_lanes, mask, n);
      else
        return adds.scatter(to + k, offsets, from + k * maximum_lanes, mask, n);
    }();
    if (outcome == deferred_adds<T>::outcome::too_many) return deferring::too_many;
    if (outcome == deferred_adds<T>::outcome::too_early) return deferring::too_early;
  }
  return deferring::went_well;
}
/// If a block has too much to add, it and the following ones run element by element. If a cell was added up too early, the
/// block restarts without early additions.
template <class T, bool ByCell>
struct lane_defer {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    deferring const how = defer_add<T, ByCell>(*m, frame, *at);
    if (how == deferring::went_well) [[likely]]
      OVERDUB_NEXT_FOR_ALL;
    if (how == deferring::failed) OVERDUB_LEAVE_BLOCK;
    offset const block = list_of(*m, *at)[4];
    m->additions.restart();
    if (how == deferring::too_many) {
      put<i64>(frame, block + block_words::in_lanes, 0);
      OVERDUB_LEAVE_BLOCK;
    }
    put<i64>(frame, block + block_words::adds_early, 0);
    m->abandoned = true;
    OVERDUB_GO(m->in_lanes, frame, 0, 0);
  }
};

} // namespace overdub::execute
