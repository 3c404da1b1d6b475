// The writes of a commit that are not direct copies of words: stores of other kinds, and changes of inputs.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/implementation/incremental/added_sums.hpp>
#include <overdub/implementation/incremental/reverse_index.hpp>
#include <overdub/incremental/bound_update.hpp>
#include <overdub/incremental/pending_changes.hpp>
#include <overdub/incremental/saved_values.hpp>
#include <overdub/incremental/update_results.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace overdub::increments {

/// Writes to saved values. A write to an array records it in the array's reverse index, and checks that sums are finite. Memory may run out.
class store_writer {
public:
  explicit store_writer(saved_values& to) : saved_(to) {}

  /// Writes the other stores of an update program that ran.
  void write(bound_update const& b) {
    for (element_copy const& e : b.stores.other.elements) {
      if (e.valid != nullptr && *e.valid == 0) continue;
      put_bits(e.to + *e.index * e.size, e.size, *e.value);
      wrote(e.variable, static_cast<i64>(*e.index));
      if (saved_.sums.is_sum(e.variable)) saved_.check_finite(e.variable, *e.value);
    }
    for (auto const& [value, variable] : b.stores.other.appended_elements) {
      cells& to = saved_.arrays[variable];
      append_rows(to, 1);
      to.set_bits_at(to.bytes() - to.size_of_scalar(), *value);
      if (saved_.sums.is_sum(variable)) saved_.check_finite(variable, *value);
    }
    for (std::uint64_t const* const sum : b.stores.other.checked_sums)
      saved_.sums.check_finite(ir::scalar::f64, *sum);
    if (!b.stores.other.stores.empty()) write_all(b.stores.other.stores, b.call);
  }

  /// Writes the change of an input.
  [[gnu::always_inline]] void write(std::uint32_t i, pending_change& c) {
    if (c.how.appended) [[unlikely]] {
      saved_.arrays[i].extend(c.appended_count);
      ++saved_.versions.lengths;
      return;
    }
    if (c.how.whole) [[unlikely]]
      return write_whole(i, c);
    if (c.how.is_listed()) [[unlikely]]
      return write_list(i, *c.list);
    cells& to = saved_.arrays[i];
    for (std::uint8_t k = 0; k < c.how.elements; ++k) {
      i64 const first = c.elements[k].path[0];
      std::size_t const at = c.how.indices == 1 ? static_cast<std::size_t>(first) * to.size_of_scalar()
                                                : to.at({c.elements[k].path, c.how.indices});
      to.set_bits_at(at, c.elements[k].bits);
      wrote(i, first);
    }
  }

private:
  void wrote(std::uint32_t variable, i64 position) {
    if (reverse_index* const index = saved_.indices.of(variable)) index->record_write(position);
  }
  // Appends rows, which the caller writes.
  void append_rows(cells& to, i64 rows) {
    if (!to.reserve_rows(rows)) ++saved_.versions.arrays;
    to.extend(rows);
    ++saved_.versions.lengths;
  }

  // A result may be an array that was lent to the update program. It is copied before another store changes that array.
  void write_all(std::vector<store const*> const& stores, bound_call const& from) {
    auto const is_lent = [&](store const* s) {
      update_value const v = s->value;
      return !is_argument(v) && v.exists() && is_array(from, v) && from.is_lent(v.result);
    };
    if (std::none_of(stores.begin(), stores.end(), is_lent)) {
      for (store const* const s : stores) write(*s, from, nullptr);
      return;
    }
    std::vector<std::optional<cells>> copies(stores.size());
    for (std::size_t k = 0; k < stores.size(); ++k) {
      if (!is_lent(stores[k])) continue;
      std::uint32_t const result = stores[k]->value.result;
      copies[k].emplace(from.code().results[result]).assign(from.elements(result), from.extents(result));
    }
    for (std::size_t k = 0; k < stores.size(); ++k)
      write(*stores[k], from, copies[k] ? copies[k]->data() : nullptr);
  }
  // Writes a saved value, or elements of it. `copied` is a copy of the elements, where one was made.
  void write(store const& s, bound_call const& from, std::byte const* copied) {
    if (s.does == store::action::add) return add_to_sums(s, from, saved_);
    if (saved_.is_number(s.variable)) return write_number(s, from);
    if (s.does == store::action::append) append(s, from);
    cells& to = saved_.arrays[s.variable];
    if (s.path.empty()) return write_array(s, from, copied);
    if (s.each && s.path.size() == 1 && to.type().rank == 1 && s.value.exists() && !s.valid.exists() &&
        to.size_of_scalar() == sizeof(std::uint64_t))
      return write_words(s, from, copied);
    if (s.does == store::action::put_range) return write_range(s, from, copied);
    std::size_t const bytes = static_cast<std::size_t>(to.scalars(s.path.size())) * to.size_of_scalar();
    bool const is_scalar = s.path.size() == to.type().rank;
    for_each_part(s, from, copied, bytes, [&](std::span<i64 const> path, std::byte const* part) {
      std::size_t const at = to.at(path);
      if (part == nullptr)
        std::memset(to.data() + at, 0, bytes);
      else
        std::memcpy(to.data() + at, part, bytes);
      if (saved_.sums.is_sum(s.variable) && is_scalar) saved_.check_finite(s.variable, to.bits_at(at));
      wrote(s.variable, path[0]);
    });
  }
  void write_number(store const& s, bound_call const& from) {
    if (s.valid.exists() && word_of(from, s.valid) == 0) return;
    std::uint64_t& number = saved_.numbers[s.variable];
    number = word_of(from, s.value);
    if (saved_.sums.is_sum(s.variable)) saved_.check_finite(s.variable, number);
  }
  // Appends a row, or one for each of a list; the caller writes them. The first row sets the length of all rows; compensations have the
  // shape of their sums.
  void append(store const& s, bound_call const& from) {
    if (s.valid.exists() && word_of(from, s.valid) == 0) return;
    cells& to = saved_.arrays[s.variable];
    if (to.extent(0) == 0 && to.type().rank > 1)
      to.set_row(
          s.value.exists() ? extents_of(from, s.value) + (s.each ? 1 : 0)
                           : value_of(s.variable).extents() + 1);
    append_rows(to, s.each ? extents_of(from, s.path[0])[0] : 1);
  }
  // The saved value of which a variable is the compensation.
  cells const& value_of(std::uint32_t variable) const {
    return saved_.arrays[saved_.variables.of(saved_.variables[variable].of)];
  }
  void write_array(store const& s, bound_call const& from, std::byte const* copied) {
    if (s.valid.exists() && word_of(from, s.valid) == 0) return;
    cells& to = saved_.arrays[s.variable];
    // A store without a value sets the compensation of recomputed sums to 0.
    bool const is_unmoved =
        s.value.exists()
            ? to.assign(copied != nullptr ? copied : elements_of(from, s.value), extents_of(from, s.value))
            : to.assign(nullptr, value_of(s.variable).extents());
    if (!is_unmoved) ++saved_.versions.arrays;
    if (reverse_index* const index = saved_.indices.of(s.variable)) index->invalidate();
    if (saved_.sums.is_sum(s.variable))
      for (std::size_t at = 0; at < to.bytes(); at += to.size_of_scalar())
        saved_.check_finite(s.variable, to.bits_at(at));
  }
  void write_words(store const& s, bound_call const& from, std::byte const* copied) {
    auto const elements = [&](update_value v) {
      return copied != nullptr && !is_argument(v) && v.result == s.value.result ? copied
                                                                                : elements_of(from, v);
    };
    i64 const n = extents_of(from, s.path[0])[0];
    auto const* const index = reinterpret_cast<i64 const*>(elements(s.path[0]));
    auto const* const value = reinterpret_cast<std::uint64_t const*>(elements(s.value));
    std::uint64_t* const at = saved_.arrays[s.variable].words();
    for (i64 k = 0; k < n; ++k) at[index[k]] = value[k];
    if (saved_.sums.is_sum(s.variable))
      for (i64 k = 0; k < n; ++k) saved_.check_finite(s.variable, value[k]);
    if (reverse_index* const writes = saved_.indices.of(s.variable))
      for (i64 k = 0; k < n; ++k) writes->record_write(index[k]);
  }
  // Writes consecutive elements as one copy.
  void write_range(store const& s, bound_call const& from, std::byte const* copied) {
    if (s.valid.exists() && word_of(from, s.valid) == 0) return;
    cells& to = saved_.arrays[s.variable];
    i64 path[ir::max_rank];
    for (std::size_t a = 0; a < s.path.size(); ++a) path[a] = static_cast<i64>(word_of(from, s.path[a]));
    i64 const n = extents_of(from, s.value)[0];
    if (n == 0) return;
    std::size_t const bytes = static_cast<std::size_t>(to.scalars(s.path.size())) * to.size_of_scalar();
    std::memcpy(
        to.data() + to.at({path, s.path.size()}), copied != nullptr ? copied : elements_of(from, s.value),
        static_cast<std::size_t>(n) * bytes);
    if (reverse_index* const index = saved_.indices.of(s.variable))
      for (i64 k = 0; k < n; ++k) index->record_write(path[0] + k);
  }

  void write_whole(std::uint32_t i, pending_change& c) {
    if (saved_.is_number(i)) {
      saved_.numbers[i] = c.bits;
      return;
    }
    std::swap(saved_.arrays[i], *c.whole);
    ++saved_.versions.arrays;
    if (reverse_index* const index = saved_.indices.of(i)) index->invalidate();
  }
  void write_list(std::uint32_t i, change_list const& list) {
    cells& to = saved_.arrays[i];
    std::size_t const bytes = to.bytes_of_row();
    for (std::size_t k = 0; k < list.size(); ++k) {
      i64 const index = list.indices()[k];
      if (bytes > 0)
        std::memcpy(
            to.data() + static_cast<std::size_t>(index) * bytes, list.elements().data() + k * bytes, bytes);
      wrote(i, index);
    }
  }

  saved_values& saved_;
};

} // namespace overdub::increments
