// The array instructions. The work is in functions that handlers call: local variables whose address is taken would prevent
// a tail call.
#pragma once

#include <overdub/implementation/execute/array_words.hpp>
#include <overdub/implementation/execute/handler.hpp>
#include <overdub/implementation/execute/scalar_handlers.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace overdub::execute {

// A handler that calls a function of (machine, frame, instruction).
template <auto F>
struct doing {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    F(*m, frame, *at);
    OVERDUB_NEXT;
  }
};

// The list of operands of an instruction with many, which begins at `a`.
inline offset const* list_of(machine const& m, instruction const& at) {
  return m.program->lists.data() + at.a;
}

inline i64 checked_index(std::string_view op, i64 i, i64 size) {
  if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size)) [[unlikely]]
    detail::throw_index(op, i, size);
  return i;
}

/// The offset, in scalars, of the part of an array that the indices select.
inline i64 part_at(
    std::byte const* frame, offset array, offset rank, offset const* indices, offset count,
    std::string_view op) {
  i64 at = 0;
  for (offset k = 0; k < rank; ++k) {
    i64 const size = extent(frame, array, k);
    at *= size;
    if (k < count) at += checked_index(op, get<i64>(frame, indices[k]), size);
  }
  return at;
}

// ---- reference counts; a is the word of the owner

struct retain_owner {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    if (buffer* const b = get<buffer*>(frame, at->a)) ++b->count;
    OVERDUB_NEXT;
  }
};
struct release_owner {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    if (buffer* const b = get<buffer*>(frame, at->a)) m->buffers.release(b);
    OVERDUB_NEXT;
  }
};

// A function value is a buffer: {index of the function, number of captured words, the words}. Releasing the last reference
// releases its captures, with a work list instead of recursion.
inline void release_function(machine& m, buffer* b) {
  if (b->count > 1) return m.buffers.release(b);
  b->next = nullptr;
  for (buffer* ended = b; ended != nullptr;) {
    b = std::exchange(ended, ended->next);
    function_code const& f = m.program->functions[read<std::uint64_t>(b->data())];
    auto const words = read<std::uint64_t>(b->data() + word_size) * word_size;
    for (offset const at : f.owners) {
      auto* const captured = at < words ? read<buffer*>(b->data() + 2 * word_size + at) : nullptr;
      if (captured == nullptr) continue;
      bool const is_function = std::find(f.functions.begin(), f.functions.end(), at) != f.functions.end();
      if (is_function && captured->count == 1)
        captured->next = std::exchange(ended, captured);
      else
        m.buffers.release(captured);
    }
    m.buffers.release(b);
  }
}
inline void release_function_at(machine& m, std::byte* frame, instruction const& at) {
  release_function(m, get<buffer*>(frame, at.a));
}
// a: the list of words, b: the function, c: the number of words.
inline void make_closure(machine& m, std::byte* frame, instruction const& at) {
  buffer* const b = m.buffers.take((2 + std::size_t{at.c}) * word_size);
  write<std::uint64_t>(b->data(), at.b);
  write<std::uint64_t>(b->data() + word_size, at.c);
  offset const* const list = list_of(m, at);
  for (offset i = 0; i < at.c; ++i)
    write(b->data() + (2 + i) * word_size, read<std::uint64_t>(frame + list[i]));
  put(frame, at.out, b);
}

// ---- reading

// The common length of arrays; the list: their number, the arrays.
inline void common_length(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  i64 const n = extent(frame, list[1], 0);
  for (offset i = 1; i < list[0]; ++i)
    if (i64 const other = extent(frame, list[1 + i], 0); other != n)
      detail::throw_sizes(m.program->texts[at.b], n, other);
  put(frame, at.out, n);
}

// The list: array, rank, number of indices, indices.
template <class T>
void load_deep(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  i64 const i = part_at(frame, list[0], list[1], list + 3, list[2], "at");
  put(frame, at.out, read<T>(elements(frame, list[0]) + static_cast<std::size_t>(i) * sizeof(T)));
}
// c: the size of a scalar. Does not retain the owner.
inline void part_of(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1], indices = list[2];
  i64 const i = part_at(frame, array, rank, list + 3, indices, "at");
  put(frame, at.out, elements(frame, array) + static_cast<std::size_t>(i) * at.c);
  put(frame, at.out + word_size, owner(frame, array));
  for (offset k = indices; k < rank; ++k) put(frame, extent_at(at.out, k - indices), extent(frame, array, k));
}
// The list: array, first, count, rank.
inline void slice_of(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[3];
  i64 const first = get<i64>(frame, list[1]), count = get<i64>(frame, list[2]);
  i64 const size = extent(frame, array, 0), row = scalars(frame, array, rank, 1);
  if (count < 0) detail::throw_negative("slice", count);
  if (first < 0 || first > size) detail::throw_index("slice", first, size);
  if (count > size - first) detail::throw_index("slice", size, size); // the first missing index
  put(frame, at.out, elements(frame, array) + static_cast<std::size_t>(first * row) * at.c);
  put(frame, at.out + word_size, owner(frame, array));
  put(frame, extent_at(at.out, 0), count);
  for (offset k = 1; k < rank; ++k)
    put(frame, extent_at(at.out, k), count == 0 ? i64{0} : extent(frame, array, k));
}
// out = a ? b : c, of arrays. The list: words, owning words.
inline void select_words(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const chosen = get<bool>(frame, list[0]) ? at.b : at.c;
  for (offset i = 0; i < list[1]; ++i)
    write(frame + at.out + i * word_size, read<std::uint64_t>(frame + chosen + i * word_size));
}

// ---- writing, in place: the array at `a` is a unique value

[[gnu::noinline]] inline void
make_unique_cold(machine& m, std::byte* frame, offset at, offset rank, std::size_t size) {
  make_unique(m, frame, at, rank, size);
}

/// Stores c at index b.
template <class T>
struct update_element {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const i = checked_index("update", get<i64>(frame, at->b), extent(frame, at->a, 0));
    if (!is_unique(frame, at->a)) [[unlikely]]
      make_unique_cold(*m, frame, at->a, 1, sizeof(T));
    write(elements(frame, at->a) + static_cast<std::size_t>(i) * sizeof(T), get<T>(frame, at->c));
    OVERDUB_NEXT;
  }
};
inline void check_shape(
    std::byte const* frame, offset array, offset rank, offset first_axis, offset value, std::string_view op) {
  for (offset k = first_axis; k < rank; ++k) {
    i64 const wanted = extent(frame, array, k), found = extent(frame, value, k - first_axis);
    if (wanted != found) detail::throw_sizes(op, wanted, found);
  }
}
// Replaces the part that the indices select by the value. The list: array, rank, number of indices, indices, value.
template <class T>
void update_deep(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1], indices = list[2], value = list[3 + indices];
  i64 const i = part_at(frame, array, rank, list + 3, indices, "update");
  if (indices == rank) {
    make_unique(m, frame, array, rank, sizeof(T));
    return write(elements(frame, array) + static_cast<std::size_t>(i) * sizeof(T), get<T>(frame, value));
  }
  check_shape(frame, array, rank, indices, value, "update");
  make_unique(m, frame, array, rank, sizeof(T));
  auto const bytes = static_cast<std::size_t>(scalars(frame, array, rank, indices)) * sizeof(T);
  if (bytes > 0)
    std::memmove(
        elements(frame, array) + static_cast<std::size_t>(i) * sizeof(T), elements(frame, value), bytes);
}

/// Adds c to the element at b of an accumulator.
template <class T>
struct add_to_element {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const i = checked_index("add_to", get<i64>(frame, at->b), extent(frame, at->a, 0));
    std::byte* const to = elements(frame, at->a) + static_cast<std::size_t>(i) * sizeof(T);
    write(to, native::add(read<T>(to), get<T>(frame, at->c)));
    OVERDUB_NEXT;
  }
};
template <class T>
void add_to_deep(machine& m, std::byte* frame, instruction const& at) {
  offset const* const list = list_of(m, at);
  offset const array = list[0], rank = list[1], indices = list[2], value = list[3 + indices];
  i64 const i = part_at(frame, array, rank, list + 3, indices, "add_to");
  std::byte* to = elements(frame, array) + static_cast<std::size_t>(i) * sizeof(T);
  if (indices == rank) return write(to, native::add(read<T>(to), get<T>(frame, value)));
  check_shape(frame, array, rank, indices, value, "add_to");
  std::byte const* from = elements(frame, value);
  for (i64 k = scalars(frame, array, rank, indices); k > 0; --k, to += sizeof(T), from += sizeof(T))
    write(to, native::add(read<T>(to), read<T>(from)));
}
// b: rank, c: size of a scalar.
inline void own(machine& m, std::byte* frame, instruction const& at) {
  make_unique(m, frame, at.a, at.b, at.c);
}

// ---- creating

// Stores a scalar from a word of the frame.
inline void write_scalar(std::byte* to, std::byte const* word, std::size_t size) {
  if (size == 8)
    std::memcpy(to, word, 8);
  else if (size == 4)
    std::memcpy(to, word, 4);
  else
    write(to, read<i64>(word) != 0);
}

// Allocates an array of n elements (a). c: the size of a scalar, b: the rank. The extents of an array of arrays are unknown
// before the first row: it has no owner until then.
inline void make_room(machine& m, std::byte* frame, instruction const& at, i64 n, std::string_view op) {
  if (n < 0) detail::throw_negative(op, n);
  if (at.b == 1 || n == 0) {
    i64 extents[ir::max_rank + 1]{n};
    make_array(m, frame, at.out, extents, at.b, at.c, op);
    return;
  }
  put<std::byte*>(frame, at.out, nullptr);
  put<buffer*>(frame, at.out + word_size, nullptr);
  put(frame, extent_at(at.out, 0), n);
}
inline void make_mapped(machine& m, std::byte* frame, instruction const& at) {
  make_room(m, frame, at, get<i64>(frame, at.a), "map");
}
inline void check_count(machine&, std::byte* frame, instruction const& at) {
  if (i64 const n = get<i64>(frame, at.a); n < 0) detail::throw_negative("map", n);
}
inline void make_stacked(machine& m, std::byte* frame, instruction const& at) {
  make_room(m, frame, at, std::max<i64>(get<i64>(frame, at.a), 0), "loop");
}

/// Stores b at index a of an array of rank 1, without a bounds check.
template <class T>
struct store_element {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    write(
        elements(frame, at->out) + static_cast<std::size_t>(get<i64>(frame, at->a)) * sizeof(T),
        get<T>(frame, at->b));
    OVERDUB_NEXT;
  }
};
// Allocates n rows of the shape of `row`; or checks that the next row has the same shape.
inline void room_for_row(
    machine& m, std::byte* frame, offset array, i64 n, offset row, offset rank, std::size_t size,
    std::string_view op) {
  if (owner(frame, array) != nullptr) return check_shape(frame, array, rank, 1, row, op);
  i64 extents[ir::max_rank + 1]{n};
  for (offset k = 1; k < rank; ++k) extents[k] = extent(frame, row, k - 1);
  make_array(m, frame, array, extents, rank, size, op);
}
inline void copy_row(std::byte* frame, offset array, i64 i, offset row, offset rank, std::size_t size) {
  auto const bytes = static_cast<std::size_t>(scalars(frame, row, rank - 1)) * size;
  if (bytes > 0)
    std::memcpy(elements(frame, array) + static_cast<std::size_t>(i) * bytes, elements(frame, row), bytes);
}
// Copies the array at b to row a. c holds the rank in its upper half, the size of a scalar in the lower.
inline void store_row(machine& m, std::byte* frame, instruction const& at) {
  offset const rank = at.c >> 16, size = at.c & 0xffff;
  room_for_row(m, frame, at.out, extent(frame, at.out, 0), at.b, rank, size, "map");
  copy_row(frame, at.out, get<i64>(frame, at.a), at.b, rank, size);
}

// An array that grows: c is its rank and the size of its scalars. `push` appends the scalar or row at a.
inline void make_growing(machine& m, std::byte* frame, instruction const& at) {
  i64 extents[ir::max_rank + 1]{};
  make_array(m, frame, at.out, extents, at.c >> 16, at.c & 0xffff, "while");
}
inline void push(machine& m, std::byte* frame, instruction const& at) {
  offset const rank = at.c >> 16, size = at.c & 0xffff;
  i64 const n = extent(frame, at.out, 0);
  std::size_t row = size;
  if (rank > 1) {
    if (n == 0)
      for (offset k = 1; k < rank; ++k) put(frame, extent_at(at.out, k), extent(frame, at.a, k - 1));
    check_shape(frame, at.out, rank, 1, at.a, "while");
    row *= static_cast<std::size_t>(scalars(frame, at.a, rank - 1));
  }
  buffer* const old = owner(frame, at.out);
  auto const used = static_cast<std::size_t>(n) * row;
  if (used + row > old->bytes) {
    buffer* const b = m.buffers.take(2 * (used + row));
    if (used > 0) std::memcpy(b->data(), old->data(), used);
    m.buffers.release(old);
    put(frame, at.out, b->data());
    put(frame, at.out + word_size, b);
  }
  std::byte* const to = elements(frame, at.out) + used;
  if (rank == 1)
    write_scalar(to, frame + at.a, size);
  else if (row > 0)
    std::memcpy(to, elements(frame, at.a), row);
  put(frame, extent_at(at.out, 0), n + 1);
}

// An array of b values from a list; c: the rank and size.
inline void make_of_values(machine& m, std::byte* frame, instruction const& at) {
  offset const rank = at.c >> 16, size = at.c & 0xffff;
  offset const* const list = list_of(m, at);
  i64 extents[ir::max_rank + 1]{i64{at.b}};
  if (rank == 1) {
    std::byte* to = make_array(m, frame, at.out, extents, 1, size, "array");
    for (offset i = 0; i < at.b; ++i, to += size) write_scalar(to, frame + list[i], size);
    return;
  }
  put<buffer*>(frame, at.out + word_size, nullptr);
  if (at.b == 0) make_array(m, frame, at.out, extents, rank, size, "array");
  for (offset i = 0; i < at.b; ++i) {
    room_for_row(m, frame, at.out, at.b, list[i], rank, size, "array");
    copy_row(frame, at.out, i, list[i], rank, size);
  }
}
// a: the length, b: the value, c: the rank and size.
inline void fill(machine& m, std::byte* frame, instruction const& at) {
  offset const rank = at.c >> 16, size = at.c & 0xffff;
  i64 const n = get<i64>(frame, at.a);
  i64 extents[ir::max_rank + 1]{n};
  for (offset k = 1; k < rank; ++k) extents[k] = extent(frame, at.b, k - 1);
  std::byte* const to = make_array(m, frame, at.out, extents, rank, size, "fill");
  if (rank > 1) {
    if (n > 0 && scalars(frame, at.b, rank - 1) > 0)
      for (i64 i = 0; i < n; ++i) copy_row(frame, at.out, i, at.b, rank, size);
  } else if (size == word_size)
    std::fill_n(reinterpret_cast<std::uint64_t*>(to), n, get<std::uint64_t>(frame, at.b));
  else if (size == sizeof(float))
    std::fill_n(reinterpret_cast<std::uint32_t*>(to), n, get<std::uint32_t>(frame, at.b));
  else if (n > 0)
    std::memset(to, get<bool>(frame, at.b), static_cast<std::size_t>(n));
}
inline void iota(machine& m, std::byte* frame, instruction const& at) {
  i64 const n = get<i64>(frame, at.a);
  auto* const to = reinterpret_cast<i64*>(make_array(m, frame, at.out, &n, 1, word_size, "iota"));
  for (i64 i = 0; i < n; ++i) to[i] = i;
}
// The list: the arrays; b: their number; c: rank and size.
inline void concat(machine& m, std::byte* frame, instruction const& at) {
  offset const rank = at.c >> 16, size = at.c & 0xffff;
  offset const* const list = list_of(m, at);
  i64 extents[ir::max_rank + 1]{};
  offset rows = list[0]; // an array with rows
  i64 n = 0;
  for (offset i = 0; i < at.b; ++i) {
    n += extent(frame, list[i], 0);
    if (extent(frame, rows, 0) == 0) rows = list[i];
  }
  for (offset i = 0; i < at.b; ++i)
    if (extent(frame, list[i], 0) > 0)
      for (offset k = 1; k < rank; ++k)
        if (i64 const a = extent(frame, rows, k), b = extent(frame, list[i], k); a != b)
          detail::throw_sizes("concat", a, b);
  extents[0] = n;
  for (offset k = 1; k < rank; ++k) extents[k] = extent(frame, rows, k);
  std::byte* to = make_array(m, frame, at.out, extents, rank, size, "concat");
  for (offset i = 0; i < at.b; ++i) {
    auto const bytes = static_cast<std::size_t>(scalars(frame, list[i], rank)) * size;
    if (bytes > 0) std::memcpy(to, elements(frame, list[i]), bytes);
    to += bytes;
  }
}
// a: the array, b: the indices, c: rank and size.
inline void gather(machine& m, std::byte* frame, instruction const& at) {
  offset const rank = at.c >> 16, size = at.c & 0xffff;
  i64 const n = extent(frame, at.b, 0), length = extent(frame, at.a, 0);
  auto const row = static_cast<std::size_t>(scalars(frame, at.a, rank, 1)) * size;
  auto const* const indices = reinterpret_cast<i64 const*>(elements(frame, at.b));
  i64 extents[ir::max_rank + 1]{n};
  for (offset k = 1; k < rank; ++k) extents[k] = extent(frame, at.a, k);
  for (i64 k = 0; k < n; ++k) (void)checked_index("gather", indices[k], length);
  std::byte* to = make_array(m, frame, at.out, extents, rank, size, "gather");
  std::byte const* const from = elements(frame, at.a);
  if (row == word_size)
    for (i64 k = 0; k < n; ++k, to += word_size)
      std::memcpy(to, from + static_cast<std::size_t>(indices[k]) * word_size, word_size);
  else if (row > 0)
    for (i64 k = 0; k < n; ++k, to += row)
      std::memcpy(to, from + static_cast<std::size_t>(indices[k]) * row, row);
}

} // namespace overdub::execute
