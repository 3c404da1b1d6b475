// Reads the results of an update program element by element.
#pragma once

#include <overdub/execute/bound_call.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/incremental/update_program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace overdub::increments {

// Arguments and results of an update program that ran.
inline bool is_argument(update_value v) { return v.parameter != update_value::none; }
inline bool is_array(bound_call const& ran, update_value v) {
  return (is_argument(v) ? ran.code().parameters[v.parameter] : ran.code().results[v.result]).rank > 0;
}
inline std::uint64_t word_of(bound_call const& ran, update_value v) {
  if (!v.exists()) return 0;
  return is_argument(v) ? ran.argument_word(v.parameter) : ran.word(v.result);
}
inline std::byte const* elements_of(bound_call const& ran, update_value v) {
  return is_argument(v) ? ran.argument_elements(v.parameter) : ran.elements(v.result);
}
inline i64 const* extents_of(bound_call const& ran, update_value v) {
  return is_argument(v) ? ran.argument_extents(v.parameter) : ran.extents(v.result);
}

/// Calls f(path, element) for the elements of a saved array that an update program writes. An element is a scalar or a row of `bytes`
/// bytes; null stands for 0. `copied` is a copy of the elements, where one was made.
template <class F>
void for_each_part(
    store const& s, bound_call const& from, std::byte const* copied, std::size_t bytes, F const& f) {
  std::size_t const indices = s.path.size();
  auto const elements = [&] { return copied != nullptr ? copied : elements_of(from, s.value); };
  i64 path[ir::max_rank];
  if (s.does == store::action::put_range) { // consecutive elements
    if (s.valid.exists() && word_of(from, s.valid) == 0) return;
    for (std::size_t a = 0; a < indices; ++a) path[a] = static_cast<i64>(word_of(from, s.path[a]));
    i64 const n = extents_of(from, s.value)[0];
    for (i64 k = 0; k < n; ++k, ++path[indices - 1])
      f(std::span<i64 const>(path, indices), elements() + static_cast<std::size_t>(k) * bytes);
    return;
  }
  i64 count = 1;
  for (update_value const v : s.path)
    if (s.each && is_array(from, v)) count = extents_of(from, v)[0];
  for (i64 k = 0; k < count; ++k) {
    auto const nth = static_cast<std::size_t>(k);
    if (s.valid.exists() &&
        (s.each && is_array(from, s.valid)
             ? extents_of(from, s.valid)[0] <= k || elements_of(from, s.valid)[nth] == std::byte{0}
             : word_of(from, s.valid) == 0))
      continue;
    for (std::size_t a = 0; a < indices; ++a) {
      if (s.each && is_array(from, s.path[a]))
        std::memcpy(&path[a], elements_of(from, s.path[a]) + nth * sizeof(i64), sizeof(i64));
      else
        path[a] = static_cast<i64>(word_of(from, s.path[a]));
    }
    std::span<i64 const> const at(path, indices);
    if (!s.value.exists()) {
      f(at, nullptr);
    } else if (s.each) {
      f(at, elements() + nth * bytes);
    } else if (is_array(from, s.value)) {
      f(at, elements());
    } else { // a word; its first bytes are the element
      std::uint64_t const word = word_of(from, s.value);
      f(at, reinterpret_cast<std::byte const*>(&word));
    }
  }
}

/// Calls f(path, bits) for the scalars of an array, row by row. Each path begins with `before`. Null elements stand for zeros.
template <class F>
void for_each_scalar(
    std::byte const* elements, std::size_t size, std::span<i64 const> extents, std::span<i64 const> before,
    F const& f) {
  i64 path[ir::max_rank] = {};
  std::ranges::copy(before, path);
  i64* const own = path + before.size();
  std::span<i64 const> const whole(path, before.size() + extents.size());
  for (i64 const n : extents)
    if (n == 0) return;
  for (;;) {
    f(whole, bits_or_zero(elements, size));
    if (elements != nullptr) elements += size;
    std::size_t k = extents.size();
    while (k > 0 && ++own[k - 1] == extents[k - 1]) own[--k] = 0;
    if (k == 0) return;
  }
}

} // namespace overdub::increments
