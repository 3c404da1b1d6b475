// The implementation of incremental(), with types that are known at run time.
#pragma once

#include <overdub/execute/bound_call.hpp>
#include <overdub/incremental/bound_update.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/incremental/error.hpp>
#include <overdub/incremental/incremental_state.hpp>
#include <overdub/incremental/pending_changes.hpp>
#include <overdub/incremental/saved_values.hpp>
#include <overdub/incremental/update_program_cache.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub {

/// The value of a function, saved with its inputs. When inputs change, only the affected operations are recomputed. Changes are set,
/// proposed, and then committed or rolled back. Not thread-safe. All computations of one function share its update programs. A moved-from
/// object can be assigned to; other uses throw incremental_error.
class incremental_program {
public:
  static constexpr std::size_t max_indices = increments::pending_change::max_indices;
  /// A list of changed elements has at most 1 / listed_fraction of the elements of its array. If more change, the whole array is changed.
  static constexpr std::size_t listed_fraction = increments::pending_changes::listed_fraction;
  /// The number of commits after which the value is recomputed in full, to remove the rounding errors of differences.
  static constexpr std::uint32_t maximum_commits = increments::sum_errors::maximum_commits;

  /// Runs the function once.
  incremental_program(
      std::shared_ptr<update_program_cache> of, std::vector<datum> const& inputs,
      std::shared_ptr<std::vector<void*> const> contexts = nullptr);
  /// Copies the committed state, without pending changes. O(saved values); does not run the function.
  incremental_program(incremental_program const& other);
  incremental_program(incremental_program&& other) noexcept;
  /// Copies the committed state. If both objects are of one function, reuses memory, and allocates only for longer arrays. If an allocation
  /// fails, the committed state and the pending changes are unchanged; the changes must be proposed again.
  incremental_program& operator=(incremental_program const& other);
  incremental_program& operator=(incremental_program&& other) noexcept;
  ~incremental_program();

  // ---- pending changes

  /// Sets an input.
  void set(std::uint32_t input, datum const& x);
  /// Sets an input that is a number, by its bits. O(1).
  void set_bits(std::uint32_t input, std::uint64_t bits) {
    if (input >= state_.changes.inputs() || !state_.saved.is_number(input)) [[unlikely]]
      return set(input, datum()); // throws
    state_.changes.set_number(input, bits, state_.saved.numbers[input]);
  }
  /// Sets an input whose value with pending changes is `now`, and finds the elements that differ: a few, a list, or all. O(elements).
  void set_differing(std::uint32_t input, datum const& now, datum const& x);
  /// Sets an element of an input, by its bits. Throws index_error. O(1); O(length) if the whole array then counts as changed. For arrays of
  /// arrays, O(1) for up to four elements in an update, each in another row, and O(length of a row) for others.
  void set_at(std::uint32_t input, std::span<i64 const> path, std::uint64_t bits);
  void set_at(std::uint32_t input, i64 index, std::uint64_t bits) {
    increments::bound_update* const b = state_.updates.direct;
    if (!state_.changes.is_empty() || b == nullptr || b->direct.input != input ||
        static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(b->direct.array->extent(0)))
        [[unlikely]]
      return set_first_at(input, index, bits);
    if (b->direct.array->words()[index] == bits) return; // no change
    *b->direct.index = static_cast<std::uint64_t>(index);
    *b->direct.element = bits;
    state_.changes.set_first_element(input, index, bits);
  }

  /// Appends an element to an input that is an array of numbers, by its bits. O(1), amortised.
  void append(std::uint32_t input, std::uint64_t bits) {
    if (input >= state_.changes.inputs()) [[unlikely]]
      return append(input, datum()); // throws
    if (!state_.changes.append_number(state_.saved, input, bits)) [[unlikely]]
      append(input, datum::of_bits(state_.saved.variables[input].type.element_type(), bits));
  }
  /// Appends an element to an input that is an array; to arrays of arrays, a row. O(its length), amortised.
  void append(std::uint32_t input, datum const& x);

  // ---- updates

  /// Computes the function with the pending changes. Throws the exceptions of the function; state and pending changes are then unchanged.
  void propose();
  /// Applies the pending changes to the state. Proposes them first if they were not proposed.
  void commit();
  /// Discards the pending changes.
  void rollback() {
    state_.changes.clear();
    state_.updates.proposal = nullptr;
  }

  bool has_changes() const { return !state_.changes.is_empty(); }
  bool is_proposed() const { return state_.changes.is_proposed(); }
  [[noreturn]] void throw_not_proposed() const;

  // ---- values

  /// The bits of a result that is a number: the committed value, and the proposed one.
  std::uint64_t value(std::size_t result = 0) const {
    state_.check_not_moved();
    return state_.saved.results[result];
  }
  std::uint64_t proposed(std::size_t result = 0) const {
    increments::bound_update const* const b = proposal();
    return b != nullptr ? *b->results.words[result] : value(result);
  }
  /// The difference between the proposed and the committed value of a result that is a number. For a sum it is computed without
  /// subtracting two sums.
  double difference(std::size_t result = 0) const {
    increments::bound_update const* const b = proposal();
    if (b == nullptr) return 0;
    if (std::uint64_t const* const by = b->results.differences[result]; by != nullptr) [[likely]]
      return std::bit_cast<double>(*by);
    return difference_of_values(result);
  }
  /// Calls f(path, bits) for the elements of a result that the proposal recomputed, in any order: those that changed, and possibly
  /// others. A number has an empty path; the path of an appended element is not yet valid for `result_bits`. O(recomputed elements).
  template <class F>
  void for_each_change(std::size_t result, F const& f) const {
    increments::bound_update const* const b = proposal();
    if (b == nullptr) return;
    std::uint32_t const v = variable_of_result(result);
    if (v == increments::layout::none) return;
    if (state_.saved.is_number(v)) return f(std::span<i64 const>(), proposed(result));
    if (v < state_.changes.inputs()) return state_.changes.for_each_scalar(v, state_.saved, f);
    b->for_each_scalar(v, state_.saved.arrays[v], f);
  }
  /// The bits of an element of a committed result, or of a number. Does not throw: the path must be in range.
  std::uint64_t result_bits(std::size_t result, std::span<i64 const> path) const {
    std::uint32_t const v = path.empty() ? increments::layout::none : variable_of_result(result);
    return v == increments::layout::none ? state_.saved.results[result] : state_.saved.bits_at(v, path);
  }
  /// Calls f() while `pass_input`, `input_bits` and `input` return the inputs with the pending changes; and f() with the committed
  /// inputs.
  template <class F>
  void as_proposed(F const& f) {
    increments::exchanged_changes const now(state_);
    f();
  }
  template <class F>
  void as_committed(F const& f) {
    f();
  }
  /// A committed result, and a committed input.
  datum result(std::size_t result) const;
  datum input(std::uint32_t i) const;

  /// Passes a committed input to another program. Arrays are borrowed, and not copied.
  void pass_input(bound_call& to, std::size_t parameter, std::uint32_t i) const {
    state_.saved.pass(to, parameter, i);
  }
  /// An extent of an input with the pending changes.
  i64 proposed_extent(std::uint32_t i, std::size_t axis) const {
    return state_.changes.extent(i, axis, state_.saved);
  }
  /// The bits of an element of a committed input, or of a number. Does not throw: the path must be in range.
  std::uint64_t input_bits(std::uint32_t i, std::span<i64 const> path) const {
    return state_.saved.bits_at(i, path);
  }
  /// The bits of an element of an input that is an array, by an index for each axis. Throws index_error.
  std::uint64_t input_at(std::uint32_t i, std::span<i64 const> path) const {
    state_.check_not_moved();
    increments::cells const& m = state_.saved.arrays[i];
    increments::pending_changes::check_indices(i, path, m);
    return m.bits_at(path.size() == 1 ? static_cast<std::size_t>(path[0]) * m.size_of_scalar() : m.at(path));
  }

  update_program_cache const& update_programs() const {
    state_.check_not_moved();
    return *state_.programs;
  }
  /// The operations of `update_programs().function()` that the last proposal recomputed, in order. Empty after a commit or a rollback.
  std::span<increments::step const> steps() const {
    increments::bound_update const* const b = state_.updates.proposal;
    if (b == nullptr) return {};
    return b->update->program.steps;
  }
  /// The text of these operations.
  std::string explain() const;

private:
  // The update program of the proposal; null if there is none, or if changes were set since.
  increments::bound_update const* proposal() const {
    return is_proposed() ? static_cast<increments::bound_update const*>(state_.updates.proposal) : nullptr;
  }
  void set_first_at(std::uint32_t input, i64 index, std::uint64_t bits);
  // The saved value that a result is, or none if it is a literal.
  std::uint32_t variable_of_result(std::size_t result) const;
  double difference_of_values(std::size_t result) const;
  void check_input(std::uint32_t i) const;

  increments::incremental_state state_;
};

} // namespace overdub
