// Binds update programs to the memory of an incremental computation.

#include <overdub/implementation/incremental/gather_index.hpp>
#include <overdub/implementation/incremental/reverse_index.hpp>
#include <overdub/incremental/incremental_program.hpp>
#include <overdub/incremental/update_results.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace overdub {

std::unique_ptr<bound_update>
incremental_program::bind(std::shared_ptr<runnable_update const> s, increments::change_signature changes) {
  auto b = std::make_unique<bound_update>(s);
  if (contexts_ != nullptr) b->call.set_contexts(contexts_->data());
  b->changes = std::move(changes);
  b->signature_code = signature_code_;
  b->change_count = change_count_;
  b->has_exact_signature = pending_.size() <= maximum_encoded;
  b->is_written.resize(layout_.size());
  for (std::uint32_t i = 0; i < pending_.size(); ++i)
    b->is_written[i] = b->changes.empty() || !b->changes[i].is_same();
  // A list of rows may have rows of other lengths: a run that recomputes everything decides.
  for (increments::input_change const& how : b->changes) b->has_rows = b->has_rows || how.appends_list();
  using enum increments::store::action;
  for (increments::store const& each : s->program.stores) {
    b->has_rows = b->has_rows || (!each.path.empty() && layout_[each.variable].type.rank > each.path.size());
    b->is_written[each.variable] = true;
    if (std::uint32_t const compensation = layout_.compensation_of(layout_[each.variable].of);
        each.does == add && compensation != increments::layout::none)
      b->is_written[compensation] = true;
  }
  bind_arguments(*b);
  // If one element of one input changes, set_at writes to the arguments directly.
  auto const is_same = [](increments::input_change const& how) { return how.is_same(); };
  if (auto const first = std::find_if_not(b->changes.begin(), b->changes.end(), is_same);
      first != b->changes.end() && std::all_of(first + 1, b->changes.end(), is_same) &&
      *first == increments::input_change{.elements = 1, .indices = 1}) {
    auto const input = static_cast<std::uint32_t>(first - b->changes.begin());
    b->direct_array = &arrays_[input];
    if (b->direct_array->size_of_scalar() == sizeof(std::uint64_t)) b->direct_input = input;
  }
  return b;
}

// Finds the addresses from which arguments that are words are copied.
void incremental_program::bind_arguments(bound_update& b) {
  b.changed_elements.clear();
  b.number_arguments.clear();
  b.other_parameters.clear();
  b.refreshed_arguments.clear();
  b.version = 0;
  b.direct_index = b.direct_element = &b.unused;
  auto const& parameters = b.update->program.parameters;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    increments::update_parameter const& p = parameters[k];
    using kind = increments::update_parameter::kind;
    std::uint64_t* const to = b.call.argument_address(k);
    if (p.what == kind::variable && is_number(p.variable)) {
      b.number_arguments.push_back({&numbers_[p.variable], to});
      if (b.is_written[p.variable]) b.refreshed_arguments.push_back(b.number_arguments.back());
    } else if (p.what == kind::index) {
      b.changed_elements.push_back(
          {reinterpret_cast<std::uint64_t const*>(&pending_[p.variable].elements[p.ordinal].path[p.axis]),
           to});
      b.direct_index = to;
    } else if (p.what == kind::element) {
      b.changed_elements.push_back({&pending_[p.variable].elements[p.ordinal].bits, to});
      b.direct_element = to;
    } else if (p.what != kind::variable) {
      b.other_parameters.push_back(k);
    }
    if (p.what == kind::matching_iterations || p.what == kind::gathered_rows)
      b.iteration_lists.resize(parameters.size());
  }
}

void incremental_program::lend_arrays(bound_update& b) {
  auto const& parameters = b.update->program.parameters;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    if (parameters[k].what != increments::update_parameter::kind::variable ||
        is_number(parameters[k].variable))
      continue;
    increments::cells const& m = arrays_[parameters[k].variable];
    if (b.arrays_version == arrays_version_) // at the same address
      b.call.set_extents(k, m.extents());
    else
      b.call.lend(k, m.data(), m.extents());
  }
  if (b.arrays_version != arrays_version_) b.results_address = nullptr;
  b.arrays_version = arrays_version_;
  b.lengths_version = lengths_version_;
}

// The address of an argument or result that is a word.
inline std::uint64_t const* incremental_program::word_of(bound_update& b, increments::update_value v) {
  static constexpr std::uint64_t zero = 0;
  if (!v.exists()) return &zero;
  return increments::is_argument(v) ? b.call.argument_address(v.parameter) : b.call.result_address(v.result);
}

// Finds the addresses of the results, and where a commit copies them.
void incremental_program::bind_results(bound_update& b) {
  b.results_address = nullptr; // until all are bound
  b.result_words.clear();
  b.differences.clear();
  b.final_copies.clear();
  b.copies.clear();
  b.words.clear();
  b.elements.clear();
  b.appended_elements.clear();
  b.additions.clear();
  b.ranges.clear();
  b.lists.clear();
  b.checked_sums.clear();
  b.other_stores.clear();
  b.input_words.clear();
  b.other_inputs.clear();
  auto const is_word = [&](increments::update_value v) {
    return !v.exists() || !increments::is_array(b.call, v);
  };
  auto const word = [&](increments::update_value v) { return word_of(b, v); };
  // The argument that holds a saved number; else the saved number itself.
  auto const renewed = [&](std::uint64_t* number) {
    auto const found = std::ranges::find(b.refreshed_arguments, number, &bound_update::word_copy::from);
    return found == b.refreshed_arguments.end() ? number : found->to;
  };
  auto const word_or_none = [&](increments::update_value v) { return v.exists() ? word(v) : nullptr; };
  using enum increments::store::action;
  increments::update_program const& what = b.update->program;
  for (std::size_t k = 0; k < values_.size(); ++k) {
    bool const is_new = what.results[k].exists();
    b.result_words.push_back(is_new ? word(what.results[k]) : &values_[k]);
    if (is_new) b.final_copies.push_back({b.result_words[k], &values_[k]});
    b.differences.push_back(word_or_none(what.differences[k]));
  }
  for (increments::store const& s : what.stores) {
    ir::type const t = layout_[s.variable].type;
    bool const is_sum = is_sum_[s.variable], is_put = s.does == put;
    if (s.does == add && s.path.empty() && t == ir::f64 && !s.valid.exists()) {
      std::uint64_t *const sum = &numbers_[s.variable],
                           *const compensation = &numbers_[layout_.compensation_of(layout_[s.variable].of)];
      b.additions.push_back(
          {word(s.value), sum, compensation, renewed(sum), renewed(compensation),
           largest_magnitude_of(s.variable, 0)});
    } else if (s.does == append && t.rank == 1 && s.value.exists() && is_word(s.value) && !s.valid.exists()) {
      b.appended_elements.push_back({word(s.value), s.variable});
    } else if (is_put && t.rank == 0 && !s.valid.exists() && !(is_sum && t != ir::f64)) {
      b.copies.push_back({word(s.value), &numbers_[s.variable]});
      if (is_sum) b.checked_sums.push_back(&numbers_[s.variable]);
    } else if (is_put && t.rank == 1 && s.path.size() == 1 && !s.each && is_word(s.value)) {
      increments::cells& to = arrays_[s.variable];
      if (to.size_of_scalar() == sizeof(std::uint64_t) && !s.valid.exists() && !is_sum &&
          reverse_indices_[s.variable] == nullptr)
        b.words.push_back({word(s.path[0]), word(s.value), to.words()});
      else
        b.elements.push_back(
            {word(s.path[0]), word(s.value), word_or_none(s.valid), to.data(), to.size_of_scalar(),
             s.variable});
    } else {
      b.other_stores.push_back(&s);
      bind_range_or_list(b, s);
    }
  }
  for (std::uint32_t i = 0; i < b.changes.size(); ++i)
    if (!b.changes[i].is_same()) bind_input(b, i);
  for (bound_update::word_copy const& copy : b.refreshed_arguments)
    if (std::none_of(b.additions.begin(), b.additions.end(), [&](bound_update::addition const& a) {
          return copy.to == a.sum_argument || copy.to == a.compensation_argument;
        }))
      b.final_copies.push_back(copy);
  b.failed_word = word(b.failed_guards);
  b.is_simple = !b.changes.empty() && b.elements.empty() && b.appended_elements.empty() &&
                b.checked_sums.empty() && b.other_stores.size() == b.ranges.size() + b.lists.size() &&
                b.other_inputs.empty();
  b.copies_arrays = !b.other_stores.empty();
  b.results_address = b.call.results();
}

// Stores to arrays of one axis that are plain copies.
inline void incremental_program::bind_range_or_list(bound_update& b, increments::store const& s) {
  using enum increments::store::action;
  auto const is_result = [&](increments::update_value v) {
    return !increments::is_argument(v) && v.exists() && increments::is_array(b.call, v);
  };
  auto const result_of = [&](increments::update_value v) {
    std::uint64_t const* const words = b.call.result_address(v.result);
    return bound_update::result_array{
        reinterpret_cast<std::byte const* const*>(words), reinterpret_cast<void const* const*>(words + 1),
        reinterpret_cast<i64 const*>(words + 2)};
  };
  increments::cells& to = arrays_[s.variable];
  bool const is_followed = is_sum_[s.variable] || reverse_indices_[s.variable] != nullptr;
  if (is_number(s.variable) || is_followed || to.type().rank != 1 || s.path.size() != 1 || s.valid.exists() ||
      !is_result(s.value))
    return;
  if (s.does == put_range && !increments::is_array(b.call, s.path[0]))
    b.ranges.push_back({word_of(b, s.path[0]), result_of(s.value), to.data(), to.size_of_scalar()});
  else if (s.does == put && s.each && is_result(s.path[0]) && to.size_of_scalar() == sizeof(std::uint64_t))
    b.lists.push_back({result_of(s.path[0]), result_of(s.value), to.words()});
}

// The stores of an input that changed.
inline void incremental_program::bind_input(bound_update& b, std::uint32_t i) {
  increments::input_change const& how = b.changes[i];
  change const& c = pending_[i];
  increments::cells& to = arrays_[i];
  if (is_number(i)) {
    b.final_copies.push_back({&c.bits, &numbers_[i]});
  } else if (
      how.whole || how.is_listed() || how.appended || how.indices != 1 || reverse_indices_[i] != nullptr ||
      to.size_of_scalar() != sizeof(std::uint64_t)) {
    b.other_inputs.push_back(i);
  } else {
    for (std::uint8_t k = 0; k < how.elements; ++k)
      b.input_words.push_back(
          {reinterpret_cast<std::uint64_t const*>(&c.elements[k].path[0]), &c.elements[k].bits, to.words()});
  }
}

} // namespace overdub
