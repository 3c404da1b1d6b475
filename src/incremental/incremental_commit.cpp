// Commits: what they write, in an order in which running out of memory leaves no wrong value.

#include <overdub/core/floating_point.hpp>
#include <overdub/implementation/incremental/gather_index.hpp>
#include <overdub/implementation/incremental/reverse_index.hpp>
#include <overdub/incremental/incremental_program.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <type_traits>

namespace overdub {

void incremental_program::commit() {
  if (!is_proposed_) propose();
  if (bound_update* const b = proposal_; b != nullptr && b->writes_only_words()) [[likely]]
    commit_simple(*b);
  else
    commit_general();
}

// A commit that writes nothing but words, and cannot fail.
[[gnu::always_inline]] inline void incremental_program::commit_simple(bound_update& b) {
  bool const is_sound = b.write_simple();
  b.version = ++numbers_version_;
  if (b.ready_state != 0) ++b.ready_state; // no array moved
  for (std::uint32_t k = 0; k < change_count_; ++k) pending_[changed_[k]].how = {};
  reset_changes();
  if (!is_sound) [[unlikely]]
    recompute_all_next();
  if (--commits_until_run_ == 0) [[unlikely]]
    recompute_all_next();
}

[[gnu::noinline]] inline void incremental_program::commit_general() {
  if (proposal_ == nullptr) {
    check_not_moved();
    return clear_changes();
  }
  bound_update& b = *proposal_;
  if (&b == full_update_.get() || &b == without_hooks_.get()) [[unlikely]]
    reset_magnitudes();
  bool const was_ready = b.ready_state == state();
  std::uint64_t const stood = arrays_version_ + lengths_version_;
  is_commit_incomplete_ = true; // if memory runs out below, the next update recomputes everything,
  is_proposed_ = false;         // and so does this one, if it is committed again
  ++numbers_version_;
  if (!b.write_words()) [[unlikely]]
    recompute_all_next();
  write_other(b);
  if (&b == plain_.get()) recompute_all_next(); // other saved values are out of date
  if (b.changes.empty())
    for (std::uint32_t n = 0; n < change_count_; ++n) write_input(changed_[n]); // cannot fail
  else
    for (std::uint32_t const i : b.other_inputs) write_input(i);
  b.write_final();
  b.version = numbers_version_;
  is_commit_incomplete_ = false;
  if (was_ready && arrays_version_ + lengths_version_ == stood && !must_recompute_all_)
    b.ready_state = state();
  clear_changes();
  if (--commits_until_run_ == 0) [[unlikely]]
    recompute_all_next();
}

// The next proposal recomputes everything: rounding errors of differences accumulate, and a sum that is not finite cannot be updated by
// differences.
[[gnu::noinline]] inline void incremental_program::recompute_all_next() {
  must_recompute_all_ = true;
  ++arrays_version_; // no bound update program is ready
}

// Stores of less common kinds.
inline void incremental_program::write_other(bound_update const& b) {
  for (auto const& e : b.elements) {
    if (e.valid != nullptr && *e.valid == 0) continue;
    increments::put_bits(e.to + *e.index * e.size, e.size, *e.value);
    if (is_sum_[e.variable]) check_finite(e.variable, *e.value);
    if (auto const& index = reverse_indices_[e.variable])
      index->record_write(static_cast<std::int64_t>(*e.index));
  }
  for (auto const& [value, variable] : b.appended_elements) {
    increments::cells& to = arrays_[variable];
    if (!to.reserve_rows(1)) ++arrays_version_;
    to.set_bits_at(to.bytes(), *value);
    to.extend(1);
    ++lengths_version_;
    if (is_sum_[variable]) check_finite(variable, *value);
  }
  for (std::uint64_t const* const sum : b.checked_sums)
    must_recompute_all_ = must_recompute_all_ || !overdub::is_finite(std::bit_cast<double>(*sum));
  if (!b.other_stores.empty()) write_other_stores(b);
}

// All sums were just added up.
inline void incremental_program::reset_magnitudes() {
  must_recompute_all_ = false;
  commits_until_run_ = maximum_commits;
  for (auto& largest : largest_magnitudes_) std::fill(largest.begin(), largest.end(), 0.0);
}
double* incremental_program::largest_magnitude_of(std::uint32_t variable, std::size_t number) {
  std::vector<double>& largest = largest_magnitudes_[variable];
  if (number >= largest.size()) {
    increments::cells const& sums = arrays_[variable];
    largest.resize(is_number(variable) ? 1 : std::max(number + 1, sums.bytes() / sums.size_of_scalar()));
  }
  return &largest[number];
}

// A sum that is not finite cannot be updated by differences.
inline void incremental_program::check_finite(std::uint32_t variable, std::uint64_t bits) {
  ir::scalar const s = layout_[variable].type.element;
  if (s == ir::scalar::f64)
    must_recompute_all_ = must_recompute_all_ || !overdub::is_finite(std::bit_cast<double>(bits));
  else if (s == ir::scalar::f32)
    must_recompute_all_ =
        must_recompute_all_ || !overdub::is_finite(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

// A result may be an array that was lent to the update program. It is copied before another store changes that array.
inline void incremental_program::write_other_stores(bound_update const& b) {
  auto const is_lent = [&](increments::store const* s) {
    increments::update_value const v = s->value;
    return v.parameter == increments::update_value::none && v.result != increments::update_value::none &&
           b.call.code().results[v.result].rank > 0 && b.call.is_lent(v.result);
  };
  if (std::none_of(b.other_stores.begin(), b.other_stores.end(), is_lent)) {
    for (increments::store const* const s : b.other_stores) write(*s, b.call, nullptr);
    return;
  }
  std::vector<std::optional<increments::cells>> copies(b.other_stores.size());
  for (std::size_t k = 0; k < b.other_stores.size(); ++k) {
    if (!is_lent(b.other_stores[k])) continue;
    std::uint32_t const result = b.other_stores[k]->value.result;
    copies[k].emplace(b.call.code().results[result]).assign(b.call.elements(result), b.call.extents(result));
  }
  for (std::size_t k = 0; k < b.other_stores.size(); ++k)
    write(*b.other_stores[k], b.call, copies[k] ? copies[k]->data() : nullptr);
}

// Writes a saved value, or elements of it.
inline void
incremental_program::write(increments::store const& s, bound_call const& from, std::byte const* copied) {
  if (s.does == increments::store::action::add) return add_to_other_sums(s, from);
  auto const elements = [&](increments::update_value v) {
    return copied != nullptr && v.result == s.value.result && v.parameter == increments::update_value::none
               ? copied
               : increments::elements_of(from, v);
  };
  auto const word = [&](increments::update_value v) { return increments::word_of(from, v); };
  auto const extents = [&](increments::update_value v) { return increments::extents_of(from, v); };
  if (is_number(s.variable)) {
    if (s.valid.exists() && word(s.valid) == 0) return;
    numbers_[s.variable] = word(s.value);
    if (is_sum_[s.variable]) check_finite(s.variable, numbers_[s.variable]);
    return;
  }
  increments::cells& to = arrays_[s.variable];
  if (s.does == increments::store::action::append) add_rows(s, from);
  if (s.path.empty()) {
    if (s.valid.exists() && word(s.valid) == 0) return;
    // A store without a value sets the compensation of recomputed sums to 0.
    bool const is_unmoved = s.value.exists()
                                ? to.assign(elements(s.value), extents(s.value))
                                : to.assign(nullptr, arrays_[layout_.of(layout_[s.variable].of)].extents());
    if (!is_unmoved) ++arrays_version_;
    if (reverse_indices_[s.variable] != nullptr) reverse_indices_[s.variable]->invalidate();
    if (is_sum_[s.variable])
      for (std::size_t at = 0; at < to.bytes(); at += to.size_of_scalar())
        check_finite(s.variable, to.bits_at(at));
    return;
  }
  if (s.each && s.path.size() == 1 && to.type().rank == 1 && s.value.exists() && !s.valid.exists() &&
      to.size_of_scalar() == 8) {
    // A list of words.
    i64 const n = extents(s.path[0])[0];
    auto const* const index = reinterpret_cast<i64 const*>(elements(s.path[0]));
    auto const* const value = reinterpret_cast<std::uint64_t const*>(elements(s.value));
    auto* const at = reinterpret_cast<std::uint64_t*>(to.data());
    for (i64 k = 0; k < n; ++k) at[index[k]] = value[k];
    if (is_sum_[s.variable])
      for (i64 k = 0; k < n; ++k) check_finite(s.variable, value[k]);
    if (reverse_indices_[s.variable] != nullptr)
      for (i64 k = 0; k < n; ++k) reverse_indices_[s.variable]->record_write(index[k]);
    return;
  }
  std::size_t const bytes = static_cast<std::size_t>(to.scalars(s.path.size())) * to.size_of_scalar();
  if (s.does == increments::store::action::put_range) { // as one copy
    if (s.valid.exists() && word(s.valid) == 0) return;
    i64 path[ir::max_rank];
    for (std::size_t a = 0; a < s.path.size(); ++a) path[a] = static_cast<i64>(word(s.path[a]));
    i64 const n = extents(s.value)[0];
    if (n == 0) return;
    std::memcpy(
        to.data() + to.at({path, s.path.size()}), elements(s.value), static_cast<std::size_t>(n) * bytes);
    for (i64 k = 0; reverse_indices_[s.variable] != nullptr && k < n; ++k)
      reverse_indices_[s.variable]->record_write(path[0] + k);
    return;
  }
  bool const is_scalar = s.path.size() == to.type().rank;
  increments::for_each_part(s, from, copied, bytes, [&](std::span<i64 const> path, std::byte const* part) {
    std::size_t const at = to.at(path);
    if (part == nullptr)
      std::memset(to.data() + at, 0, bytes);
    else
      std::memcpy(to.data() + at, part, bytes);
    if (is_sum_[s.variable] && is_scalar) check_finite(s.variable, to.bits_at(at));
    if (reverse_indices_[s.variable] != nullptr) reverse_indices_[s.variable]->record_write(path[0]);
  });
}

// Adds a difference to a sum, and the rounding error to its compensation.
inline std::uint64_t incremental_program::added(
    std::uint32_t variable, std::size_t number_of, std::uint64_t sum, std::uint64_t by,
    std::uint64_t& compensation) {
  return execute::with_type(layout_[variable].type.element, [&]<class T>(T) -> std::uint64_t {
    if constexpr (std::is_floating_point_v<T>) {
      using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      auto const [now, lost] =
          increments::two_sum(increments::number_in<T>(sum), increments::number_in<T>(by));
      double& largest = *largest_magnitude_of(variable, number_of);
      largest = increments::larger_magnitude(increments::number_in<T>(sum), largest);
      compensation = std::bit_cast<word>(static_cast<T>(increments::number_in<T>(compensation) + lost));
      return std::bit_cast<word>(now);
    } else {
      return sum + by;
    }
  });
}
inline void incremental_program::add_to_other_sums(increments::store const& s, bound_call const& from) {
  std::uint32_t const variable = layout_.compensation_of(layout_[s.variable].of);
  bool const has_compensation = variable != increments::layout::none;
  std::uint64_t compensation = 0;
  if (is_number(s.variable)) {
    if (s.valid.exists() && increments::word_of(from, s.valid) == 0) return;
    std::uint64_t& sum = numbers_[s.variable];
    sum = added(
        s.variable, 0, sum, increments::word_of(from, s.value),
        has_compensation ? numbers_[variable] : compensation);
    return check_finite(s.variable, sum);
  }
  increments::cells& to = arrays_[s.variable];
  increments::for_each_part(
      s, from, nullptr, to.size_of_scalar(), [&](std::span<i64 const> path, std::byte const* part) {
        std::size_t const at = to.at(path);
        if (has_compensation) compensation = arrays_[variable].bits_at(at);
        std::uint64_t const by = increments::bits_of(part, to.size_of_scalar());
        to.set_bits_at(at, added(s.variable, at / to.size_of_scalar(), to.bits_at(at), by, compensation));
        if (has_compensation) arrays_[variable].set_bits_at(at, compensation);
        check_finite(s.variable, to.bits_at(at));
        if (reverse_indices_[s.variable] != nullptr) reverse_indices_[s.variable]->record_write(path[0]);
      });
}

// Appends a row, or one for each of a list; the caller writes them. The first row sets the length of all rows; compensations have the
// shape of their sums.
inline void incremental_program::add_rows(increments::store const& s, bound_call const& from) {
  if (s.valid.exists() && increments::word_of(from, s.valid) == 0) return;
  increments::cells& to = arrays_[s.variable];
  if (to.extent(0) == 0 && to.type().rank > 1)
    to.set_row(
        s.value.exists() ? increments::extents_of(from, s.value) + (s.each ? 1 : 0)
                         : arrays_[layout_.of(layout_[s.variable].of)].extents() + 1);
  i64 const more = s.each ? increments::extents_of(from, s.path[0])[0] : 1;
  if (!to.reserve_rows(more)) ++arrays_version_;
  to.extend(more);
  ++lengths_version_;
}

[[gnu::always_inline]] inline void incremental_program::write_input(std::uint32_t i) {
  change const& c = pending_[i];
  if (c.how.appended) [[unlikely]] {
    arrays_[i].extend(c.appended_count);
    ++lengths_version_;
    return;
  }
  if (c.how.whole) [[unlikely]]
    return write_whole_input(i);
  if (c.how.is_listed()) [[unlikely]]
    return write_listed_input(i);
  increments::cells& to = arrays_[i];
  for (std::uint8_t k = 0; k < c.how.elements; ++k) {
    i64 const first = c.elements[k].path[0];
    std::size_t const at = c.how.indices == 1 ? static_cast<std::size_t>(first) * to.size_of_scalar()
                                              : to.at({c.elements[k].path, c.how.indices});
    to.set_bits_at(at, c.elements[k].bits);
    if (reverse_indices_[i] != nullptr) reverse_indices_[i]->record_write(first);
  }
}
inline void incremental_program::write_whole_input(std::uint32_t i) {
  change& c = pending_[i];
  if (is_number(i)) {
    numbers_[i] = c.bits;
    return;
  }
  std::swap(arrays_[i], *c.whole);
  ++arrays_version_;
  if (reverse_indices_[i] != nullptr) reverse_indices_[i]->invalidate();
}
inline void incremental_program::write_listed_input(std::uint32_t i) {
  increments::change_list const& list = *pending_[i].list;
  increments::cells& to = arrays_[i];
  std::size_t const bytes = to.bytes_of_row();
  for (std::size_t k = 0; k < list.size(); ++k) {
    i64 const index = list.indices()[k];
    if (bytes > 0)
      std::memcpy(
          to.data() + static_cast<std::size_t>(index) * bytes, list.elements().data() + k * bytes, bytes);
    if (reverse_indices_[i] != nullptr) reverse_indices_[i]->record_write(index);
  }
}

} // namespace overdub
