#include <overdub/implementation/incremental/bind_update.hpp>
#include <overdub/incremental/update_results.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace overdub::increments {

// Notes which saved values a commit changes, and whether it writes rows.
inline void note_writes(bound_update& b, saved_values const& saved, pending_changes const& changes) {
  change_signature const& signature = b.changes.signature;
  b.is_written.resize(saved.variables.size());
  for (std::uint32_t i = 0; i < changes.inputs(); ++i)
    b.is_written[i] = signature.empty() || !signature[i].is_same();
  // A list of rows may have rows of other lengths: a run that recomputes everything decides.
  for (input_change const& how : signature) b.has_rows = b.has_rows || how.appends_list();
  for (store const& each : b.update->program.stores) {
    variable const& v = saved.variables[each.variable];
    b.has_rows = b.has_rows || (!each.path.empty() && v.type.rank > each.path.size());
    b.is_written[each.variable] = true;
    if (std::uint32_t const compensation = saved.variables.compensation_of(v.of);
        each.does == store::action::add && compensation != layout::none)
      b.is_written[compensation] = true;
  }
}

std::unique_ptr<bound_update>
bind(std::shared_ptr<runnable_update const> program, change_signature signature, incremental_state& s) {
  auto b = std::make_unique<bound_update>(std::move(program));
  if (s.contexts != nullptr) b->call.set_contexts(s.contexts->data());
  b->changes = s.changes.key(std::move(signature));
  note_writes(*b, s.saved, s.changes);
  bind_arguments(*b, s.saved, s.changes);
  // If one element of one input changes, set_at writes to the arguments directly.
  auto const is_same = [](input_change const& how) { return how.is_same(); };
  change_signature const& all = b->changes.signature;
  if (auto const first = std::find_if_not(all.begin(), all.end(), is_same);
      first != all.end() && std::all_of(first + 1, all.end(), is_same) &&
      *first == input_change{.elements = 1, .indices = 1}) {
    auto const input = static_cast<std::uint32_t>(first - all.begin());
    b->direct.array = &s.saved.arrays[input];
    if (b->direct.array->size_of_scalar() == sizeof(std::uint64_t)) b->direct.input = input;
  }
  return b;
}

void bind_arguments(bound_update& b, saved_values& saved, pending_changes const& changes) {
  bound_arguments& bound = b.arguments;
  bound.clear_addresses();
  b.direct.index = b.direct.element = &b.direct.unused;
  auto const& parameters = b.update->program.parameters;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    update_parameter const& p = parameters[k];
    using kind = update_parameter::kind;
    std::uint64_t* const to = b.call.argument_address(k);
    if (p.what == kind::variable && saved.is_number(p.variable)) {
      bound.numbers.push_back({&saved.numbers[p.variable], to});
      if (b.is_written[p.variable]) bound.refreshed.push_back(bound.numbers.back());
    } else if (p.what == kind::index) {
      bound.changed_elements.push_back(
          {reinterpret_cast<std::uint64_t const*>(&changes[p.variable].elements[p.ordinal].path[p.axis]),
           to});
      b.direct.index = to;
    } else if (p.what == kind::element) {
      bound.changed_elements.push_back({&changes[p.variable].elements[p.ordinal].bits, to});
      b.direct.element = to;
    } else if (p.what != kind::variable) {
      bound.others.push_back(k);
    }
    if (p.what == kind::matching_iterations || p.what == kind::gathered_rows)
      bound.iteration_lists.resize(parameters.size());
  }
}

void lend_arrays(bound_update& b, saved_values const& saved) {
  saved_versions& lent = b.arguments.versions;
  auto const& parameters = b.update->program.parameters;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    if (parameters[k].what != update_parameter::kind::variable || saved.is_number(parameters[k].variable))
      continue;
    cells const& m = saved.arrays[parameters[k].variable];
    if (lent.arrays == saved.versions.arrays) // at the same address
      b.call.set_extents(k, m.extents());
    else
      b.call.lend(k, m.data(), m.extents());
  }
  if (lent.arrays != saved.versions.arrays) b.results.address = nullptr;
  lent.arrays = saved.versions.arrays;
  lent.lengths = saved.versions.lengths;
}

/// Binds the results of an update program that ran.
class result_binder {
public:
  result_binder(bound_update& b, saved_values& saved, pending_changes const& changes)
      : b_(b), to_(b.stores), saved_(saved), changes_(changes) {}

  void bind() {
    b_.results.address = nullptr; // until all are bound
    to_.direct.clear();
    to_.other.clear();
    bind_results_of_function();
    for (store const& s : b_.update->program.stores) bind_store(s);
    change_signature const& signature = b_.changes.signature;
    for (std::uint32_t i = 0; i < signature.size(); ++i)
      if (!signature[i].is_same()) bind_input(i, signature[i]);
    bind_refreshed_arguments();
    b_.results.failed_guards = word(b_.update->program.failed_guards);
    other_stores const& other = to_.other;
    to_.is_direct = !signature.empty() && other.elements.empty() && other.appended_elements.empty() &&
                    other.checked_sums.empty() &&
                    other.stores.size() == to_.direct.ranges.size() + to_.direct.lists.size() &&
                    other.inputs.empty();
    to_.copies_arrays = !other.stores.empty();
    b_.results.address = b_.call.results();
  }

private:
  // The address of an argument or result that is a word.
  std::uint64_t const* word(update_value v) const {
    static constexpr std::uint64_t zero = 0;
    if (!v.exists()) return &zero;
    return is_argument(v) ? b_.call.argument_address(v.parameter) : b_.call.result_address(v.result);
  }
  std::uint64_t const* word_or_none(update_value v) const { return v.exists() ? word(v) : nullptr; }
  bool is_word(update_value v) const { return !v.exists() || !is_array(b_.call, v); }
  bool is_array_result(update_value v) const { return !is_argument(v) && v.exists() && is_array(b_.call, v); }
  result_array array(update_value v) const {
    std::uint64_t const* const words = b_.call.result_address(v.result);
    return {
        reinterpret_cast<std::byte const* const*>(words), reinterpret_cast<void const* const*>(words + 1),
        reinterpret_cast<i64 const*>(words + 2)};
  }
  // The argument that holds a saved number; else the saved number itself.
  std::uint64_t* refreshed(std::uint64_t* number) const {
    auto const found = std::ranges::find(b_.arguments.refreshed, number, &word_copy::from);
    return found == b_.arguments.refreshed.end() ? number : found->to;
  }

  void bind_results_of_function() {
    update_program const& program = b_.update->program;
    b_.results.words.clear();
    b_.results.differences.clear();
    for (std::size_t k = 0; k < saved_.results.size(); ++k) {
      bool const is_new = program.results[k].exists();
      std::uint64_t* const committed = &saved_.results[k];
      b_.results.words.push_back(is_new ? word(program.results[k]) : committed);
      if (is_new) to_.direct.final_copies.push_back({b_.results.words[k], committed});
      b_.results.differences.push_back(word_or_none(program.differences[k]));
    }
  }
  void bind_store(store const& s) {
    variable const& v = saved_.variables[s.variable];
    bool const is_sum = saved_.sums.is_sum(s.variable), is_put = s.does == store::action::put;
    if (s.does == store::action::add && s.path.empty() && v.type == ir::f64 && !s.valid.exists()) {
      std::uint64_t *const sum = &saved_.numbers[s.variable],
                           *const compensation = &saved_.numbers[saved_.variables.compensation_of(v.of)];
      to_.direct.additions.push_back(
          {word(s.value), sum, compensation, refreshed(sum), refreshed(compensation),
           saved_.largest_magnitude(s.variable, 0)});
    } else if (
        s.does == store::action::append && v.type.rank == 1 && s.value.exists() && is_word(s.value) &&
        !s.valid.exists()) {
      to_.other.appended_elements.push_back({word(s.value), s.variable});
    } else if (is_put && v.type.rank == 0 && !s.valid.exists() && !(is_sum && v.type != ir::f64)) {
      to_.direct.numbers.push_back({word(s.value), &saved_.numbers[s.variable]});
      if (is_sum) to_.other.checked_sums.push_back(&saved_.numbers[s.variable]);
    } else if (is_put && v.type.rank == 1 && s.path.size() == 1 && !s.each && is_word(s.value)) {
      cells& to = saved_.arrays[s.variable];
      if (to.size_of_scalar() == sizeof(std::uint64_t) && !s.valid.exists() && !is_sum &&
          saved_.indices.of(s.variable) == nullptr)
        to_.direct.words.push_back({word(s.path[0]), word(s.value), to.words()});
      else
        to_.other.elements.push_back(
            {word(s.path[0]), word(s.value), word_or_none(s.valid), to.data(), to.size_of_scalar(),
             s.variable});
    } else {
      to_.other.stores.push_back(&s);
      bind_range_or_list(s);
    }
  }
  // Stores to arrays of one axis that are plain copies.
  void bind_range_or_list(store const& s) {
    cells& to = saved_.arrays[s.variable];
    bool const is_followed = saved_.sums.is_sum(s.variable) || saved_.indices.of(s.variable) != nullptr;
    if (saved_.is_number(s.variable) || is_followed || to.type().rank != 1 || s.path.size() != 1 ||
        s.valid.exists() || !is_array_result(s.value))
      return;
    if (s.does == store::action::put_range && !is_array(b_.call, s.path[0]))
      to_.direct.ranges.push_back({word(s.path[0]), array(s.value), to.data(), to.size_of_scalar()});
    else if (
        s.does == store::action::put && s.each && is_array_result(s.path[0]) &&
        to.size_of_scalar() == sizeof(std::uint64_t))
      to_.direct.lists.push_back({array(s.path[0]), array(s.value), to.words()});
  }
  // The stores of an input that changed.
  void bind_input(std::uint32_t i, input_change const& how) {
    pending_change const& c = changes_[i];
    cells& to = saved_.arrays[i];
    if (saved_.is_number(i)) {
      to_.direct.final_copies.push_back({&c.bits, &saved_.numbers[i]});
    } else if (
        how.whole || how.is_listed() || how.appended || how.indices != 1 || saved_.indices.of(i) != nullptr ||
        to.size_of_scalar() != sizeof(std::uint64_t)) {
      to_.other.inputs.push_back(i);
    } else {
      for (std::uint8_t k = 0; k < how.elements; ++k)
        to_.direct.inputs.push_back(
            {reinterpret_cast<std::uint64_t const*>(&c.elements[k].path[0]), &c.elements[k].bits,
             to.words()});
    }
  }
  // Arguments that a commit changes; those that hold sums are written with the sums.
  void bind_refreshed_arguments() {
    auto const& additions = to_.direct.additions;
    for (word_copy const& copy : b_.arguments.refreshed)
      if (std::none_of(additions.begin(), additions.end(), [&](addition const& a) {
            return copy.to == a.sum_argument || copy.to == a.compensation_argument;
          }))
        to_.direct.final_copies.push_back(copy);
  }

  bound_update& b_;
  bound_stores& to_;
  saved_values& saved_;
  pending_changes const& changes_;
};

void bind_results(bound_update& b, saved_values& saved, pending_changes const& changes) {
  result_binder(b, saved, changes).bind();
}

} // namespace overdub::increments
