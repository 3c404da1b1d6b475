// Instructions that iterate over blocks of elements, and those that move numbers between arrays and lanes.
#pragma once

#include <overdub/implementation/execute/lane_handlers.hpp>
#include <overdub/implementation/execute/reduce_handlers.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace overdub::execute {

// ---- blocks. Their words: the first element of the block, its end, whether blocks are vectorised, a 1, and whether cells
// of accumulators are added up early (add_handlers.hpp)

struct block_words {
  static constexpr offset first = 0, end = word_size, in_lanes = 2 * word_size, one = 3 * word_size,
                          adds_early = 4 * word_size, size = 5;
};
/// Initialises the block at `out` of a elements. Vectorises from b elements on; jumps to c if there are none.
inline instruction const* start_blocks(machine&, std::byte* frame, instruction const* at) {
  i64 const n = get<i64>(frame, at->a);
  put<i64>(frame, at->out + block_words::end, 0);
  put<i64>(frame, at->out + block_words::first, 0);
  put<i64>(frame, at->out + block_words::one, 1);
  put<i64>(frame, at->out + block_words::adds_early, 1);
  put<i64>(frame, at->out + block_words::in_lanes, n >= static_cast<i64>(at->b));
  return n > 0 ? at + 1 : target(at, at->c);
}
/// The scalar loop at c runs the block if blocks are not vectorised, or after a lane has failed.
inline instruction const* begin_block(machine& m, std::byte* frame, instruction const* at) {
  i64 const first = get<i64>(frame, at->out + block_words::first);
  m.lanes = std::min(maximum_lanes, get<i64>(frame, at->a) - first);
  m.elementwise = target(at, at->c);
  put(frame, at->out + block_words::end, first + m.lanes);
  return get<i64>(frame, at->out + block_words::in_lanes) != 0 ? at + 1 : m.elementwise;
}
/// Restores the number of lanes: the elements may have run blocks of their own.
inline void count_block(machine& m, std::byte* frame, instruction const& at) {
  m.lanes = get<i64>(frame, at.out + block_words::end) - get<i64>(frame, at.out + block_words::first);
}
/// Continues with the next block, at c.
inline instruction const* next_block(machine&, std::byte* frame, instruction const* at) {
  i64 const first = get<i64>(frame, at->out + block_words::end);
  put(frame, at->out + block_words::first, first);
  return first < get<i64>(frame, at->a) ? target(at, at->c) : at + 1;
}
/// Disables vectorisation if rows of the array at a, of rank b, are longer than c: lanes of them would not fit into a
/// cache, and their elements can be vectorised instead.
inline void limit_rows(machine&, std::byte* frame, instruction const& at) {
  if (scalars(frame, at.a, at.b, 1) > static_cast<i64>(at.c))
    put<i64>(frame, at.out + block_words::in_lanes, 0);
}
/// Allocates memory for lanes: an array at `out`. The list: each pointer's word, and the number of its row; b pointers, c
/// rows.
inline void bind_lanes(machine& m, std::byte* frame, instruction const& at) {
  i64 const rows = at.c;
  std::byte* const memory = make_array(m, frame, at.out, &rows, 1, row_size_of(ir::scalar::f64), "map");
  offset const* const list = list_of(m, at);
  for (offset i = 0; i < at.b; ++i)
    put(frame, list[2 * i], memory + std::size_t{list[2 * i + 1]} * row_size_of(ir::scalar::f64));
}

// ---- results of blocks

/// out points to the elements of an array (a) from b on, of c bytes each, without a bounds check: those of a block, or rows of lanes.
inline void lane_row(machine&, std::byte* frame, instruction const& at) {
  put(frame, at.out, elements(frame, at.a) + static_cast<std::size_t>(get<i64>(frame, at.b)) * at.c);
}
/// out points to where an array would begin whose elements from b on are the lanes at a, of c bytes each.
inline void lane_window(machine&, std::byte* frame, instruction const& at) {
  auto const lanes = reinterpret_cast<std::uintptr_t>(get<std::byte*>(frame, at.a));
  put(frame, at.out, lanes - static_cast<std::size_t>(get<i64>(frame, at.b)) * at.c);
}
inline void lane_store_bools(machine& m, std::byte* frame, instruction const& at) {
  auto const* const from = lanes_at<bool>(frame, at.a);
  std::byte* const to = elements(frame, at.out) + get<i64>(frame, at.b);
  for (i64 i = 0, n = m.lanes; i < n; ++i) write(to + i, from[i] != 0);
}
/// Copies the array of lanes at a to the rows of an array from b on. c: the array's rank.
template <class T>
void lane_store_rows(machine& m, std::byte* frame, instruction const& at) {
  room_for_row(m, frame, at.out, extent(frame, at.out, 0), at.a, at.c, sizeof(T), "map");
  auto const size = static_cast<std::size_t>(scalars(frame, at.a, at.c - 1));
  std::byte* to =
      elements(frame, at.out) + static_cast<std::size_t>(get<i64>(frame, at.b)) * size * sizeof(T);
  auto const* const from = lanes_at<T>(frame, at.a);
  for (i64 i = 0, n = m.lanes; i < n; ++i)
    for (std::size_t k = 0; k < size; ++k, to += sizeof(T))
      write(
          to, from_lane<T>(from[k * static_cast<std::size_t>(maximum_lanes) + static_cast<std::size_t>(i)]));
}
/// The same for an array that the lanes share. c: the rank and size.
inline void lane_store_same_rows(machine& m, std::byte* frame, instruction const& at) {
  offset const rank = at.c >> 16, size = at.c & 0xffff;
  room_for_row(m, frame, at.out, extent(frame, at.out, 0), at.a, rank, size, "map");
  for (i64 i = 0, first = get<i64>(frame, at.b), n = m.lanes; i < n; ++i)
    copy_row(frame, at.out, first + i, at.a, rank, size);
}

// ---- indices of lanes: {kind, word, word of the stride}

enum class indexed_by : offset {
  uniform, // the word is the index of all lanes
  varying, // the word points to the indices
  strided  // the word is the index of the first lane; each lane adds the stride
};
/// Whether the first index and n - 1 strides from it are in bounds of an array of this size; no plan says so (ir/index_ranges.hpp). n > 0.
inline bool are_in(i64 first, i64 step, i64 n, i64 size) {
  auto const is_in = [size](i64 i) {
    return static_cast<std::uint64_t>(i) < static_cast<std::uint64_t>(size);
  };
  // A stride as large as the array leaves it. With a smaller one, the last index does not wrap, as long as arrays fit into
  // memory. (Arrays of empty rows need not: their elements run one by one.)
  constexpr i64 largest = i64{1} << 48;
  if (n == 1 || !is_in(first)) return is_in(first);
  return size <= largest && step < size && step > -size && is_in(first + step * (n - 1));
}
// Adds an index to the indices that selected `to`; returns whether it is in bounds.
inline bool next_offset(i64& to, i64 size, std::uint64_t index) {
  to = static_cast<i64>(static_cast<std::uint64_t>(to) * static_cast<std::uint64_t>(size) + index);
  return index < static_cast<std::uint64_t>(size);
}
inline bool are_in_range_where_active(i64 const* index, i64 size, i64 const* mask, i64 n) {
  bool all = true;
  for (i64 i = 0; i < n; ++i)
    all = all && (mask[i] == 0 || static_cast<std::uint64_t>(index[i]) < static_cast<std::uint64_t>(size));
  return all;
}
// The offsets, in scalars, that each lane's indices select; false if an index is out of range. Lanes without a set mask are
// ignored.
inline bool lane_offsets(
    machine& m, std::byte const* frame, offset array, offset rank, offset const* indices, offset count,
    i64 (&to)[maximum_lanes], i64 const* mask = nullptr) {
  i64 const n = m.lanes;
  std::fill_n(to, n, 0);
  for (offset k = 0; k < rank; ++k) {
    i64 const size = extent(frame, array, k);
    if (k >= count) { // the offset of a part
      for (i64 i = 0; i < n; ++i) to[i] *= size;
      continue;
    }
    auto const how = static_cast<indexed_by>(indices[3 * k]);
    offset const word = indices[3 * k + 1];
    if (how == indexed_by::varying) {
      auto const* const index = get<i64 const*>(frame, word);
      bool all = true;
      for (i64 i = 0; i < n; ++i) all = next_offset(to[i], size, static_cast<std::uint64_t>(index[i])) && all;
      if (!all && !(mask != nullptr && are_in_range_where_active(index, size, mask, n))) return false;
    } else {
      i64 const first = get<i64>(frame, word);
      i64 const step = how == indexed_by::strided ? get<i64>(frame, indices[3 * k + 2]) : 0;
      if (mask != nullptr) {
        i64 index[maximum_lanes];
        for (i64 i = 0; i < n; ++i) {
          auto const lane = static_cast<std::uint64_t>(first) +
                            static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(i);
          index[i] = static_cast<i64>(lane);
          (void)next_offset(to[i], size, lane);
        }
        if (!are_in_range_where_active(index, size, mask, n)) return false;
        continue;
      }
      if (!are_in(first, step, n, size)) return false;
      for (i64 i = 0; i < n; ++i) to[i] = to[i] * size + first + step * i;
    }
  }
  return true;
}

// ---- elements and parts of arrays that the lanes share

/// out points to the elements of an array (a) from b on.
template <class T>
bool lane_at(machine& m, std::byte* frame, instruction const& at) {
  i64 const first = get<i64>(frame, at.b);
  if (!are_in(first, 1, m.lanes, extent(frame, at.a, 0))) return false;
  put(frame, at.out, elements(frame, at.a) + static_cast<std::size_t>(first) * sizeof(T));
  return true;
}
/// The elements of an array (a) from b on, with stride c.
template <class T>
bool lane_at_strided(machine& m, std::byte* frame, instruction const& at) {
  i64 const n = m.lanes, first = get<i64>(frame, at.b), step = get<i64>(frame, at.c);
  if (!are_in(first, step, n, extent(frame, at.a, 0))) return false;
  std::byte const* const from = elements(frame, at.a) + first * static_cast<i64>(sizeof(T));
  auto* const out = lanes_at<T>(frame, at.out);
  for (i64 i = 0; i < n; ++i) out[i] = as_lane<T>(read<T>(from + i * step * static_cast<i64>(sizeof(T))));
  return true;
}
/// The list: array, rank, then an index for each axis.
template <class T>
bool lane_gather(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  i64 from[maximum_lanes];
  if (!lane_offsets(m, frame, list[0], list[1], list + 2, list[1], from)) return false;
  std::byte const* const all = elements(frame, list[0]);
  auto* const out = lanes_at<T>(frame, at.out);
  for (i64 i = 0, n = m.lanes; i < n; ++i)
    out[i] = as_lane<T>(read<T>(all + static_cast<std::size_t>(from[i]) * sizeof(T)));
  return true;
}
/// An array of lanes of parts; b: the number of indices.
template <class T>
bool lane_parts(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1];
  i64 from[maximum_lanes];
  if (!lane_offsets(m, frame, array, rank, list + 2, at.b, from)) return false;
  i64 extents[ir::max_rank + 1]{};
  for (offset k = at.b; k < rank; ++k) extents[k - at.b] = extent(frame, array, k);
  auto* to = reinterpret_cast<in_lane<T>*>(make_array(
      m, frame, at.out, extents, rank - at.b, sizeof(in_lane<T>) * static_cast<std::size_t>(maximum_lanes),
      "at"));
  std::byte const* const all = elements(frame, array);
  for (i64 k = 0, size = scalars(frame, array, rank, at.b); k < size; ++k, to += maximum_lanes)
    for (i64 i = 0, n = m.lanes; i < n; ++i)
      to[i] = as_lane<T>(read<T>(all + static_cast<std::size_t>(from[i] + k) * sizeof(T)));
  return true;
}
/// Broadcasts an array to an array of lanes. c: the rank.
template <class T>
void lane_broadcast(machine& m, std::byte* frame, instruction const& at) {
  i64 extents[ir::max_rank + 1]{};
  for (offset k = 0; k < at.c; ++k) extents[k] = extent(frame, at.a, k);
  std::byte const* from = elements(frame, at.a);
  auto* to = reinterpret_cast<in_lane<T>*>(make_array(
      m, frame, at.out, extents, at.c, sizeof(in_lane<T>) * static_cast<std::size_t>(maximum_lanes), "map"));
  for (i64 k = scalars(frame, at.a, at.c); k > 0; --k, from += sizeof(T), to += maximum_lanes)
    std::fill_n(to, m.lanes, as_lane<T>(read<T>(from)));
}

// ---- arrays of lanes

/// out points to the lanes of an element. The list: array, rank, number of indices, indices; c: the bytes of a row.
inline void lane_element(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  i64 const i = part_at(frame, list[0], list[1], list + 3, list[2], "at");
  put(frame, at.out, elements(frame, list[0]) + static_cast<std::size_t>(i) * at.c);
}
/// Gathers the element that each lane's indices select. The list: as for lane_gather.
template <class T>
bool lane_pick(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  i64 from[maximum_lanes];
  if (!lane_offsets(m, frame, list[0], list[1], list + 2, list[1], from)) return false;
  auto const* const all = lanes_at<T>(frame, list[0]);
  auto* const out = lanes_at<T>(frame, at.out);
  for (i64 i = 0, n = m.lanes; i < n; ++i) out[i] = all[from[i] * maximum_lanes + i];
  return true;
}
/// Stores lanes at an element with uniform indices. The list: array, rank, number of indices, indices, the lanes; c: the
/// bytes of a row.
inline void lane_update(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1], count = list[2];
  i64 const i = part_at(frame, array, rank, list + 3, count, "update");
  make_unique(m, frame, array, rank, at.c);
  std::memmove(
      elements(frame, array) + static_cast<std::size_t>(i) * at.c, get<std::byte*>(frame, list[3 + count]),
      static_cast<std::size_t>(m.lanes) * (at.c / static_cast<std::size_t>(maximum_lanes)));
}
/// The same for a part, with an array of lanes.
inline void lane_update_part(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1], count = list[2], value = list[3 + count];
  i64 const i = part_at(frame, array, rank, list + 3, count, "update");
  check_shape(frame, array, rank, count, value, "update");
  make_unique(m, frame, array, rank, at.c);
  auto const bytes = static_cast<std::size_t>(scalars(frame, array, rank, count)) * at.c;
  if (bytes > 0)
    std::memmove(elements(frame, array) + static_cast<std::size_t>(i) * at.c, elements(frame, value), bytes);
}
/// The same with an index for each lane (a scatter): the list is array, rank, indices; b: the lanes.
template <class T>
bool lane_scatter(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  i64 to[maximum_lanes];
  if (!lane_offsets(m, frame, list[0], list[1], list + 2, list[1], to)) return false;
  make_unique(m, frame, list[0], list[1], sizeof(in_lane<T>) * static_cast<std::size_t>(maximum_lanes));
  auto* const all = lanes_at<T>(frame, list[0]);
  auto const* const from = lanes_at<T>(frame, at.b);
  for (i64 i = 0, n = m.lanes; i < n; ++i) all[to[i] * maximum_lanes + i] = from[i];
  return true;
}
/// An array of the lanes in a list; b: their number, c: the size of a lane.
inline void lane_array(machine& m, std::byte* frame, instruction const& at) {
  i64 const count = at.b;
  auto const row = std::size_t{at.c} * static_cast<std::size_t>(maximum_lanes);
  std::byte* to = make_array(m, frame, at.out, &count, 1, row, "array");
  offset const* const list = list_of(m, at);
  for (offset k = 0; k < at.b; ++k, to += row)
    std::memcpy(to, get<std::byte*>(frame, list[k]), static_cast<std::size_t>(m.lanes) * at.c);
}
/// An array of length a, filled with the lanes at b.
inline void lane_fill_array(machine& m, std::byte* frame, instruction const& at) {
  i64 const count = get<i64>(frame, at.a);
  auto const row = std::size_t{at.c} * static_cast<std::size_t>(maximum_lanes);
  std::byte* to = make_array(m, frame, at.out, &count, 1, row, "fill");
  for (i64 k = 0; k < count; ++k, to += row)
    std::memcpy(to, get<std::byte*>(frame, at.b), static_cast<std::size_t>(m.lanes) * at.c);
}

} // namespace overdub::execute
