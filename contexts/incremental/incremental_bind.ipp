// Slices of a program that follows changes: where their arguments and what they give stand.
#pragma once

#include <overdub/contexts/incremental/incremental_program.hpp>
#include <overdub/contexts/incremental/parts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace overdub::contexts {
inline namespace OVERDUB_EXECUTE_ABI {

OVERDUB_DECL std::unique_ptr<bound_slice>
incremental_program::make_bound(std::shared_ptr<runnable_slice const> s, increments::schema changes) {
  auto b = std::make_unique<bound_slice>(s);
  if (contexts_ != nullptr) b->call.set_contexts(contexts_->data());
  b->changes = std::move(changes);
  b->signature = signature_;
  b->change_count = change_count_;
  b->has_exact_signature = pending_.size() <= most_signed;
  b->is_written.resize(layout_.size());
  for (std::uint32_t i = 0; i < pending_.size(); ++i)
    b->is_written[i] = b->changes.empty() || !b->changes[i].is_same();
  // Of arrays that come in different lengths a run of everything tells.
  for (increments::input_change const& how : b->changes) b->has_rows = b->has_rows || how.appends_list();
  using enum increments::store::action;
  for (increments::store const& each : s->what.stores) {
    b->has_rows = b->has_rows || (!each.path.empty() && layout_[each.variable].type.rank > each.path.size());
    b->is_written[each.variable] = true;
    if (std::uint32_t const rest = layout_.remainder_of(layout_[each.variable].of);
        each.does == add && rest != increments::layout::none)
      b->is_written[rest] = true;
  }
  find_arguments(*b);
  // One place in one input: set_at writes where the slice reads.
  auto const is_same = [](increments::input_change const& how) { return how.is_same(); };
  if (auto const first = std::find_if_not(b->changes.begin(), b->changes.end(), is_same);
      first != b->changes.end() && std::all_of(first + 1, b->changes.end(), is_same) &&
      *first == increments::input_change{.places = 1, .indices = 1}) {
    auto const input = static_cast<std::uint32_t>(first - b->changes.begin());
    b->array_of_place = &arrays_of_[input];
    if (b->array_of_place->size_of_scalar() == sizeof(std::uint64_t)) b->input_of_place = input;
  }
  return b;
}

// Where the words of a slice's arguments come from, and go to.
OVERDUB_DECL void incremental_program::find_arguments(bound_slice& b) {
  b.places.clear();
  b.numbers.clear();
  b.others.clear();
  b.renewed.clear();
  b.version = 0;
  b.index_of_place = b.element_of_place = &b.unused;
  auto const& parameters = b.slice->what.parameters;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    increments::slice_parameter const& p = parameters[k];
    using kind = increments::slice_parameter::kind;
    std::uint64_t* const to = b.call.argument_address(k);
    if (p.what == kind::variable && is_number(p.variable)) {
      b.numbers.push_back({&numbers_[p.variable], to});
      if (b.is_written[p.variable]) b.renewed.push_back(b.numbers.back());
    } else if (p.what == kind::index) {
      b.places.push_back(
          {reinterpret_cast<std::uint64_t const*>(&pending_[p.variable].places[p.place].path[p.axis]), to});
      b.index_of_place = to;
    } else if (p.what == kind::element) {
      b.places.push_back({&pending_[p.variable].places[p.place].bits, to});
      b.element_of_place = to;
    } else if (p.what != kind::variable) {
      b.others.push_back(k);
    }
    if (p.what == kind::members || p.what == kind::gathered) b.members.resize(parameters.size());
  }
}

OVERDUB_DECL void incremental_program::lend_arrays(bound_slice& b) {
  auto const& parameters = b.slice->what.parameters;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    if (parameters[k].what != increments::slice_parameter::kind::variable ||
        is_number(parameters[k].variable))
      continue;
    increments::cells const& m = arrays_of_[parameters[k].variable];
    if (b.arrays == arrays_) // it stands where it did
      b.call.set_extents(k, m.extents());
    else
      b.call.lend(k, m.data(), m.extents());
  }
  if (b.arrays != arrays_) b.results = nullptr;
  b.arrays = arrays_;
  b.grown = grown_;
}

// Where a word stands that a slice takes or gives.
inline std::uint64_t const* incremental_program::word_of(bound_slice& b, increments::slice_value v) {
  static constexpr std::uint64_t zero = 0;
  if (!v.exists()) return &zero;
  return increments::is_argument(v) ? b.call.argument_address(v.parameter) : b.call.result_address(v.result);
}

// Which words the slice gives, and where a commit copies them to.
OVERDUB_DECL void incremental_program::find_results(bound_slice& b) {
  b.results = nullptr; // until all are found
  b.outcomes.clear();
  b.differences.clear();
  b.settled.clear();
  b.copies.clear();
  b.words.clear();
  b.elements.clear();
  b.grown_elements.clear();
  b.additions.clear();
  b.ranges.clear();
  b.lists.clear();
  b.sums.clear();
  b.parts.clear();
  b.input_words.clear();
  b.inputs.clear();
  auto const is_word = [&](increments::slice_value v) {
    return !v.exists() || !increments::is_array(b.call, v);
  };
  auto const word = [&](increments::slice_value v) { return word_of(b, v); };
  // Where the slice reads a number that is kept; nowhere else, where it does not.
  auto const renewed = [&](std::uint64_t* number) {
    auto const found = std::ranges::find(b.renewed, number, &bound_slice::word_copy::from);
    return found == b.renewed.end() ? number : found->to;
  };
  auto const word_or_none = [&](increments::slice_value v) { return v.exists() ? word(v) : nullptr; };
  using enum increments::store::action;
  increments::slice const& what = b.slice->what;
  for (std::size_t k = 0; k < values_.size(); ++k) {
    bool const is_new = what.results[k].exists();
    b.outcomes.push_back(is_new ? word(what.results[k]) : &values_[k]);
    if (is_new) b.settled.push_back({b.outcomes[k], &values_[k]});
    b.differences.push_back(word_or_none(what.differences[k]));
  }
  for (increments::store const& s : what.stores) {
    ir::type const t = layout_[s.variable].type;
    bool const is_sum = is_sum_[s.variable], is_put = s.does == put;
    if (s.does == add && s.path.empty() && t == ir::f64 && !s.valid.exists()) {
      std::uint64_t *const sum = &numbers_[s.variable],
                           *const rest = &numbers_[layout_.remainder_of(layout_[s.variable].of)];
      b.additions.push_back({word(s.value), sum, rest, renewed(sum), renewed(rest), most_of(s.variable, 0)});
    } else if (s.does == append && t.rank == 1 && s.value.exists() && is_word(s.value) && !s.valid.exists()) {
      b.grown_elements.push_back({word(s.value), s.variable});
    } else if (is_put && t.rank == 0 && !s.valid.exists() && !(is_sum && t != ir::f64)) {
      b.copies.push_back({word(s.value), &numbers_[s.variable]});
      if (is_sum) b.sums.push_back(&numbers_[s.variable]);
    } else if (is_put && t.rank == 1 && s.path.size() == 1 && !s.each && is_word(s.value)) {
      increments::cells& to = arrays_of_[s.variable];
      if (to.size_of_scalar() == sizeof(std::uint64_t) && !s.valid.exists() && !is_sum &&
          inverse_[s.variable] == nullptr)
        b.words.push_back({word(s.path[0]), word(s.value), to.words()});
      else
        b.elements.push_back(
            {word(s.path[0]), word(s.value), word_or_none(s.valid), to.data(), to.size_of_scalar(),
             s.variable});
    } else {
      b.parts.push_back(&s);
      find_range_or_list(b, s);
    }
  }
  for (std::uint32_t i = 0; i < b.changes.size(); ++i)
    if (!b.changes[i].is_same()) find_input(b, i);
  for (bound_slice::word_copy const& copy : b.renewed)
    if (std::none_of(b.additions.begin(), b.additions.end(), [&](bound_slice::addition const& a) {
          return copy.to == a.sum_again || copy.to == a.rest_again;
        }))
      b.settled.push_back(copy);
  b.doubted = word(b.failed);
  b.is_plain = !b.changes.empty() && b.elements.empty() && b.grown_elements.empty() && b.sums.empty() &&
               b.parts.size() == b.ranges.size() + b.lists.size() && b.inputs.empty();
  b.copies_arrays = !b.parts.empty();
  b.results = b.call.results();
}

// What a commit copies of an array of one axis to another one.
inline void incremental_program::find_range_or_list(bound_slice& b, increments::store const& s) {
  using enum increments::store::action;
  auto const is_given = [&](increments::slice_value v) {
    return !increments::is_argument(v) && v.exists() && increments::is_array(b.call, v);
  };
  auto const given = [&](increments::slice_value v) {
    std::uint64_t const* const words = b.call.result_address(v.result);
    return bound_slice::given_array{
        reinterpret_cast<std::byte const* const*>(words), reinterpret_cast<void const* const*>(words + 1),
        reinterpret_cast<i64 const*>(words + 2)};
  };
  increments::cells& to = arrays_of_[s.variable];
  bool const is_followed = is_sum_[s.variable] || inverse_[s.variable] != nullptr;
  if (is_number(s.variable) || is_followed || to.type().rank != 1 || s.path.size() != 1 || s.valid.exists() ||
      !is_given(s.value))
    return;
  if (s.does == put_range && !increments::is_array(b.call, s.path[0]))
    b.ranges.push_back({word_of(b, s.path[0]), given(s.value), to.data(), to.size_of_scalar()});
  else if (s.does == put && s.each && is_given(s.path[0]) && to.size_of_scalar() == sizeof(std::uint64_t))
    b.lists.push_back({given(s.path[0]), given(s.value), to.words()});
}

// How a commit writes an input that changed.
inline void incremental_program::find_input(bound_slice& b, std::uint32_t i) {
  increments::input_change const& how = b.changes[i];
  change const& c = pending_[i];
  increments::cells& to = arrays_of_[i];
  if (is_number(i)) {
    b.settled.push_back({&c.bits, &numbers_[i]});
  } else if (
      how.whole || how.is_listed() || how.appended || how.indices != 1 || inverse_[i] != nullptr ||
      to.size_of_scalar() != sizeof(std::uint64_t)) {
    b.inputs.push_back(i);
  } else {
    for (std::uint8_t k = 0; k < how.places; ++k)
      b.input_words.push_back(
          {reinterpret_cast<std::uint64_t const*>(&c.places[k].path[0]), &c.places[k].bits, to.words()});
  }
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts
