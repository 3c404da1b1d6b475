// What a commit writes.
#pragma once

#include <overdub/contexts/incremental/incremental_program.hpp>
#include <overdub/core/floating_point.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <type_traits>

namespace overdub::contexts {
inline namespace OVERDUB_EXECUTE_ABI {

OVERDUB_DECL void incremental_program::commit() {
  if (!is_proposed_) propose();
  if (bound_slice* const b = proposal_; b != nullptr && b->writes_words_alone()) [[likely]]
    commit_plain(*b);
  else
    commit_parts();
}

// Words alone: nothing of it can fail.
[[gnu::always_inline]] inline void incremental_program::commit_plain(bound_slice& b) {
  bool const is_sound = b.write_plain();
  b.version = ++numbers_version_;
  if (b.ready != 0) ++b.ready; // arrays stand where they stood
  for (std::uint32_t k = 0; k < change_count_; ++k) pending_[changed_[k]].how = {};
  has_no_changes();
  if (!is_sound) [[unlikely]]
    run_all_next();
  if (--commits_until_run_ == 0) [[unlikely]]
    run_all_next();
}

[[gnu::noinline]] inline void incremental_program::commit_parts() {
  if (proposal_ == nullptr) {
    check_not_moved();
    return forget_changes();
  }
  bound_slice& b = *proposal_;
  if (&b == all_.get() || &b == without_hooks_.get()) [[unlikely]]
    begin_sums();
  bool const was_ready = b.ready == state();
  std::uint64_t const stood = arrays_ + grown_;
  is_torn_ = true;      // where memory is gone before all is written, the next update runs all again,
  is_proposed_ = false; // and so does this one, if it is committed once more
  ++numbers_version_;
  if (!b.write_words()) [[unlikely]]
    run_all_next();
  commit_more(b);
  if (&b == plain_.get()) run_all_next(); // saved values other than results are of an earlier state
  if (b.changes.empty())
    for (std::uint32_t n = 0; n < change_count_; ++n) write_input(changed_[n]); // which cannot fail
  else
    for (std::uint32_t const i : b.inputs) write_input(i);
  b.settle();
  b.version = numbers_version_;
  is_torn_ = false;
  if (was_ready && arrays_ + grown_ == stood && !is_improper_) b.ready = state();
  forget_changes();
  if (--commits_until_run_ == 0) [[unlikely]]
    run_all_next();
}

// The next proposal is a run of everything, so that its value is what a commit keeps: differences are rounded, too, and a sum that is not
// finite cannot be added to.
[[gnu::noinline]] inline void incremental_program::run_all_next() {
  is_improper_ = true;
  ++arrays_; // no slice is ready
}

// What few slices have.
inline void incremental_program::commit_more(bound_slice const& b) {
  for (auto const& e : b.elements) {
    if (e.valid != nullptr && *e.valid == 0) continue;
    increments::put_bits(e.to + *e.index * e.size, e.size, *e.value);
    if (is_sum_[e.variable]) look_at(e.variable, *e.value);
    if (auto const& inverse = inverse_[e.variable]) inverse->written(static_cast<std::int64_t>(*e.index));
  }
  for (auto const& [value, variable] : b.grown_elements) {
    increments::cells& to = arrays_of_[variable];
    if (!to.reserve_rows(1)) ++arrays_;
    to.set_bits_at(to.bytes(), *value);
    to.extend(1);
    ++grown_;
    if (is_sum_[variable]) look_at(variable, *value);
  }
  for (std::uint64_t const* const sum : b.sums)
    is_improper_ = is_improper_ || !overdub::is_finite(std::bit_cast<double>(*sum));
  if (!b.parts.empty()) write_parts(b);
}

// All sums are added up anew.
inline void incremental_program::begin_sums() {
  is_improper_ = false;
  commits_until_run_ = most_commits;
  for (auto& most : most_) std::fill(most.begin(), most.end(), 0.0);
}
OVERDUB_DECL double* incremental_program::most_of(std::uint32_t variable, std::size_t number) {
  std::vector<double>& most = most_[variable];
  if (number >= most.size()) {
    increments::cells const& sums = arrays_of_[variable];
    most.resize(is_number(variable) ? 1 : std::max(number + 1, sums.bytes() / sums.size_of_scalar()));
  }
  return &most[number];
}

// A sum that is not finite cannot be followed.
inline void incremental_program::look_at(std::uint32_t variable, std::uint64_t bits) {
  ir::scalar const s = layout_[variable].type.element;
  if (s == ir::scalar::f64)
    is_improper_ = is_improper_ || !overdub::is_finite(std::bit_cast<double>(bits));
  else if (s == ir::scalar::f32)
    is_improper_ =
        is_improper_ || !overdub::is_finite(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

// A slice may give an array that it was lent, which another one is about to change: such are copied before.
inline void incremental_program::write_parts(bound_slice const& b) {
  auto const is_lent = [&](increments::store const* s) {
    increments::slice_value const v = s->value;
    return v.parameter == increments::slice_value::none && v.result != increments::slice_value::none &&
           b.call.code().results[v.result].rank > 0 && b.call.is_lent(v.result);
  };
  if (std::none_of(b.parts.begin(), b.parts.end(), is_lent)) {
    for (increments::store const* const s : b.parts) write(*s, b.call, nullptr);
    return;
  }
  std::vector<std::optional<increments::cells>> copies(b.parts.size());
  for (std::size_t k = 0; k < b.parts.size(); ++k) {
    if (!is_lent(b.parts[k])) continue;
    std::uint32_t const result = b.parts[k]->value.result;
    copies[k].emplace(b.call.code().results[result]).assign(b.call.elements(result), b.call.extents(result));
  }
  for (std::size_t k = 0; k < b.parts.size(); ++k)
    write(*b.parts[k], b.call, copies[k] ? copies[k]->data() : nullptr);
}

// What changed of an array, or of a number where it changed at all.
inline void
incremental_program::write(increments::store const& s, bound_call const& from, std::byte const* copied) {
  if (s.does == increments::store::action::add) return add_parts(s, from);
  auto const elements = [&](increments::slice_value v) {
    return copied != nullptr && v.result == s.value.result && v.parameter == increments::slice_value::none
               ? copied
               : increments::elements_of(from, v);
  };
  auto const word = [&](increments::slice_value v) { return increments::word_of(from, v); };
  auto const extents = [&](increments::slice_value v) { return increments::extents_of(from, v); };
  if (is_number(s.variable)) {
    if (s.valid.exists() && word(s.valid) == 0) return;
    numbers_[s.variable] = word(s.value);
    if (is_sum_[s.variable]) look_at(s.variable, numbers_[s.variable]);
    return;
  }
  increments::cells& to = arrays_of_[s.variable];
  if (s.does == increments::store::action::append) add_rows(s, from);
  if (s.path.empty()) {
    if (s.valid.exists() && word(s.valid) == 0) return;
    // Where nothing is given, what was lost of sums that were computed anew.
    bool const stays = s.value.exists()
                           ? to.assign(elements(s.value), extents(s.value))
                           : to.assign(nullptr, arrays_of_[layout_.of(layout_[s.variable].of)].extents());
    if (!stays) ++arrays_;
    if (inverse_[s.variable] != nullptr) inverse_[s.variable]->forget();
    if (is_sum_[s.variable])
      for (std::size_t at = 0; at < to.bytes(); at += to.size_of_scalar())
        look_at(s.variable, to.bits_at(at));
    return;
  }
  if (s.each && s.path.size() == 1 && to.type().rank == 1 && s.value.exists() && !s.valid.exists() &&
      to.size_of_scalar() == 8) {
    // The turns of a list.
    i64 const n = extents(s.path[0])[0];
    auto const* const index = reinterpret_cast<i64 const*>(elements(s.path[0]));
    auto const* const value = reinterpret_cast<std::uint64_t const*>(elements(s.value));
    auto* const at = reinterpret_cast<std::uint64_t*>(to.data());
    for (i64 k = 0; k < n; ++k) at[index[k]] = value[k];
    if (is_sum_[s.variable])
      for (i64 k = 0; k < n; ++k) look_at(s.variable, value[k]);
    if (inverse_[s.variable] != nullptr)
      for (i64 k = 0; k < n; ++k) inverse_[s.variable]->written(index[k]);
    return;
  }
  std::size_t const bytes = static_cast<std::size_t>(to.scalars(s.path.size())) * to.size_of_scalar();
  if (s.does == increments::store::action::put_range) { // all at once
    if (s.valid.exists() && word(s.valid) == 0) return;
    i64 path[ir::max_rank];
    for (std::size_t a = 0; a < s.path.size(); ++a) path[a] = static_cast<i64>(word(s.path[a]));
    i64 const n = extents(s.value)[0];
    if (n == 0) return;
    std::memcpy(
        to.data() + to.at({path, s.path.size()}), elements(s.value), static_cast<std::size_t>(n) * bytes);
    for (i64 k = 0; inverse_[s.variable] != nullptr && k < n; ++k) inverse_[s.variable]->written(path[0] + k);
    return;
  }
  bool const is_scalar = s.path.size() == to.type().rank;
  increments::for_each_part(s, from, copied, bytes, [&](std::span<i64 const> path, std::byte const* part) {
    std::size_t const at = to.at(path);
    if (part == nullptr)
      std::memset(to.data() + at, 0, bytes);
    else
      std::memcpy(to.data() + at, part, bytes);
    if (is_sum_[s.variable] && is_scalar) look_at(s.variable, to.bits_at(at));
    if (inverse_[s.variable] != nullptr) inverse_[s.variable]->written(path[0]);
  });
}

// What is added to a sum, and to what was lost of it before.
inline std::uint64_t incremental_program::added(
    std::uint32_t variable, std::size_t number_of, std::uint64_t sum, std::uint64_t by, std::uint64_t& rest) {
  return execute::with_type(layout_[variable].type.element, [&]<class T>(T) -> std::uint64_t {
    if constexpr (std::is_floating_point_v<T>) {
      using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      auto const [now, lost] =
          increments::sum_of_two(increments::number_in<T>(sum), increments::number_in<T>(by));
      double& most = *most_of(variable, number_of);
      most = increments::largest(increments::number_in<T>(sum), most);
      rest = std::bit_cast<word>(static_cast<T>(increments::number_in<T>(rest) + lost));
      return std::bit_cast<word>(now);
    } else {
      return sum + by;
    }
  });
}
inline void incremental_program::add_parts(increments::store const& s, bound_call const& from) {
  std::uint32_t const remainder = layout_.remainder_of(layout_[s.variable].of);
  bool const has_rest = remainder != increments::layout::none;
  std::uint64_t rest = 0;
  if (is_number(s.variable)) {
    if (s.valid.exists() && increments::word_of(from, s.valid) == 0) return;
    std::uint64_t& sum = numbers_[s.variable];
    sum =
        added(s.variable, 0, sum, increments::word_of(from, s.value), has_rest ? numbers_[remainder] : rest);
    return look_at(s.variable, sum);
  }
  increments::cells& to = arrays_of_[s.variable];
  increments::for_each_part(
      s, from, nullptr, to.size_of_scalar(), [&](std::span<i64 const> path, std::byte const* part) {
        std::size_t const at = to.at(path);
        if (has_rest) rest = arrays_of_[remainder].bits_at(at);
        std::uint64_t const by = increments::bits_of(part, to.size_of_scalar());
        to.set_bits_at(at, added(s.variable, at / to.size_of_scalar(), to.bits_at(at), by, rest));
        if (has_rest) arrays_of_[remainder].set_bits_at(at, rest);
        look_at(s.variable, to.bits_at(at));
        if (inverse_[s.variable] != nullptr) inverse_[s.variable]->written(path[0]);
      });
}

// A row more, or one for each of a list, which are written next. Where there was none, it says how long rows are; of what was lost of
// sums, that of the sums does.
inline void incremental_program::add_rows(increments::store const& s, bound_call const& from) {
  if (s.valid.exists() && increments::word_of(from, s.valid) == 0) return;
  increments::cells& to = arrays_of_[s.variable];
  if (to.extent(0) == 0 && to.type().rank > 1)
    to.set_row(
        s.value.exists() ? increments::extents_of(from, s.value) + (s.each ? 1 : 0)
                         : arrays_of_[layout_.of(layout_[s.variable].of)].extents() + 1);
  i64 const more = s.each ? increments::extents_of(from, s.path[0])[0] : 1;
  if (!to.reserve_rows(more)) ++arrays_;
  to.extend(more);
  ++grown_;
}

[[gnu::always_inline]] inline void incremental_program::write_input(std::uint32_t i) {
  change const& c = pending_[i];
  if (c.how.appended) [[unlikely]] {
    arrays_of_[i].extend(c.came);
    ++grown_;
    return;
  }
  if (c.how.whole) [[unlikely]]
    return write_whole_input(i);
  if (c.how.is_listed()) [[unlikely]]
    return write_listed_input(i);
  increments::cells& to = arrays_of_[i];
  for (std::uint8_t k = 0; k < c.how.places; ++k) {
    i64 const first = c.places[k].path[0];
    std::size_t const at = c.how.indices == 1 ? static_cast<std::size_t>(first) * to.size_of_scalar()
                                              : to.at({c.places[k].path, c.how.indices});
    to.set_bits_at(at, c.places[k].bits);
    if (inverse_[i] != nullptr) inverse_[i]->written(first);
  }
}
inline void incremental_program::write_whole_input(std::uint32_t i) {
  change& c = pending_[i];
  if (is_number(i)) {
    numbers_[i] = c.bits;
    return;
  }
  std::swap(arrays_of_[i], *c.whole);
  ++arrays_;
  if (inverse_[i] != nullptr) inverse_[i]->forget();
}
inline void incremental_program::write_listed_input(std::uint32_t i) {
  increments::change_list const& list = *pending_[i].list;
  increments::cells& to = arrays_of_[i];
  std::size_t const bytes = to.bytes_of_row();
  for (std::size_t k = 0; k < list.size(); ++k) {
    i64 const index = list.indices()[k];
    if (bytes > 0)
      std::memcpy(
          to.data() + static_cast<std::size_t>(index) * bytes, list.elements().data() + k * bytes, bytes);
    if (inverse_[i] != nullptr) inverse_[i]->written(index);
  }
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts
