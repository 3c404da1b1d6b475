// The incremental computation behind incremental(), with types that are known at run time.
#pragma once

#include <overdub/execute/bound_call.hpp>
#include <overdub/incremental/bound_update.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/incremental/change_list.hpp>
#include <overdub/incremental/error.hpp>
#include <overdub/incremental/update_program_cache.hpp>
#include <overdub/incremental/update_results.hpp>
#include <overdub/incremental/update_strategy.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub {
namespace increments {
class gather_index;
class reverse_index;
} // namespace increments

/// The value of a function, saved with its inputs. When inputs change, only the affected operations are recomputed. Changes are set,
/// proposed, and then committed or rolled back. Not thread-safe. All computations of one function share its update programs. A moved-from
/// object can be assigned to; other uses throw incremental_error.
class incremental_program {
public:
  static constexpr std::size_t most_indices = 3;
  /// A list of changed elements has at most 1 / listed_fraction of the elements of its array. If more change, the whole array is changed.
  static constexpr std::size_t listed_fraction = 8;
  /// The number of commits after which the value is recomputed in full, to remove the rounding errors of differences.
  static constexpr std::uint32_t maximum_commits = 1u << 20;

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
    if (input >= pending_.size() || !is_number(input)) [[unlikely]]
      return set(input, datum()); // throws
    change& c = pending_[input];
    bool const is_first = c.how.is_same();
    if (is_first && bits == numbers_[input]) return; // no change
    is_proposed_ = false;
    c.bits = bits;
    if (is_first) begin_change(input, {.whole = true});
  }
  /// Sets an input whose value with pending changes is `now`, and finds the elements that differ: a few, a list, or all. O(elements).
  void set_differing(std::uint32_t input, datum const& now, datum const& x);
  /// Sets an element of an input, by its bits. Throws index_error. O(1); O(length) if the whole array then counts as changed. For arrays of
  /// arrays, O(1) for up to four elements in an update, each in another row, and O(length of a row) for others.
  void set_at(std::uint32_t input, std::span<i64 const> path, std::uint64_t bits);
  void set_at(std::uint32_t input, i64 index, std::uint64_t bits) {
    bound_update* const b = direct_;
    if (change_count_ > 0 || b == nullptr || b->direct_input != input ||
        static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(b->direct_array->extent(0)))
        [[unlikely]]
      return set_first_at(input, index, bits);
    if (b->direct_array->words()[index] == bits) return; // no change
    *b->direct_index = static_cast<std::uint64_t>(index);
    *b->direct_element = bits;
    begin_element_change(input, index, bits);
  }

  /// Appends an element to an input that is an array of numbers, by its bits. O(1), amortised.
  void append(std::uint32_t input, std::uint64_t bits) {
    if (input >= pending_.size()) [[unlikely]]
      return append(input, datum());
    change& c = pending_[input];
    increments::cells& m = arrays_[input];
    if (m.type().rank != 1 || m.extent(0) == 0 || !(c.how.is_same() || c.how.appended)) [[unlikely]]
      return append(input, datum::of_bits(m.type().element_type(), bits));
    is_proposed_ = false;
    i64 const index = m.extent(0) + appended_count(c);
    if (!m.reserve_rows(appended_count(c) + 1)) ++arrays_version_;
    m.set_bits_at(static_cast<std::size_t>(index) * m.size_of_scalar(), bits);
    append_element(input, index, bits);
  }
  /// Appends an element to an input that is an array; to arrays of arrays, a row. O(its length), amortised.
  void append(std::uint32_t input, datum const& x);

  // ---- updates

  /// Computes the function with the pending changes. Throws the exceptions of the function; state and pending changes are then unchanged.
  void propose();
  /// Applies the pending changes to the state. Proposes them first if they were not proposed.
  void commit();
  /// Discards the pending changes.
  void rollback() { clear_changes(); }

  bool has_changes() const { return change_count_ > 0; }
  bool is_proposed() const { return is_proposed_; }
  [[noreturn]] void throw_not_proposed() const;

  // ---- values

  /// The bits of a result that is a number: the committed value, and the proposed one.
  std::uint64_t value(std::size_t result = 0) const {
    check_not_moved();
    return values_[result];
  }
  std::uint64_t proposed(std::size_t result = 0) const {
    return is_proposed_ && proposal_ != nullptr ? *proposal_->result_words[result] : value(result);
  }
  /// The difference between the proposed and the committed value of a result that is a number. For a sum it is computed without
  /// subtracting two sums.
  double difference(std::size_t result = 0) const {
    if (!is_proposed_ || proposal_ == nullptr) return 0;
    if (std::uint64_t const* const by = proposal_->differences[result]; by != nullptr) [[likely]]
      return std::bit_cast<double>(*by);
    return difference_of_values(result);
  }
  /// Calls f(path, bits) for the elements of a result that the proposal recomputed, in any order: those that changed, and possibly
  /// others. A number has an empty path; the path of an appended element is not yet valid for `result_bits`. O(recomputed elements).
  template <class F>
  void for_each_change(std::size_t result, F const& f) const {
    if (!is_proposed_ || proposal_ == nullptr) return;
    std::uint32_t const v = variable_of_result(result);
    if (v == increments::layout::none) return;
    if (is_number(v)) return f(std::span<i64 const>(), proposed(result));
    if (v < pending_.size()) return for_each_change_of_input(v, f);
    increments::cells const& as_it_is = arrays_[v];
    for (increments::store const& s : proposal_->update->program.stores) {
      if (s.variable != v || s.does == increments::store::action::add) continue;
      if (s.path.empty()) {
        if (s.valid.exists() && increments::word_of(proposal_->call, s.valid) == 0) continue;
        increments::for_each_scalar(
            increments::elements_of(proposal_->call, s.value), as_it_is.size_of_scalar(),
            {increments::extents_of(proposal_->call, s.value), as_it_is.type().rank}, {}, f);
        continue;
      }
      std::vector<i64> inner(as_it_is.extents() + s.path.size(), as_it_is.extents() + as_it_is.type().rank);
      std::size_t const bytes =
          static_cast<std::size_t>(as_it_is.scalars(s.path.size())) * as_it_is.size_of_scalar();
      increments::for_each_part(
          s, proposal_->call, nullptr, bytes, [&](std::span<i64 const> path, std::byte const* part) {
            increments::for_each_scalar(part, as_it_is.size_of_scalar(), inner, path, f);
          });
    }
  }
  /// The bits of an element of a committed result, or of a number. Does not throw: the path must be in range.
  std::uint64_t result_bits(std::size_t result, std::span<i64 const> path) const {
    std::uint32_t const v = path.empty() ? increments::layout::none : variable_of_result(result);
    return v == increments::layout::none ? values_[result] : arrays_[v].bits_at(arrays_[v].at(path));
  }
  /// Calls f() while `pass_input`, `input_bits` and `input` return the inputs with the pending changes; and f() with the committed
  /// inputs.
  template <class F>
  void as_proposed(F const& f) {
    struct exchanged {
      incremental_program& of;
      explicit exchanged(incremental_program& p) : of(p) { of.exchange_changes(); }
      exchanged(exchanged const&) = delete;
      ~exchanged() { of.exchange_changes(); }
    } const now(*this);
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
    if (is_number(i))
      to.set(parameter, numbers_[i]);
    else
      to.lend(parameter, arrays_[i].data(), arrays_[i].extents());
  }
  /// The extents of an input that is an array.
  i64 const* input_extents(std::uint32_t i) const { return arrays_[i].extents(); }
  /// An extent of an input with the pending changes.
  i64 proposed_extent(std::uint32_t i, std::size_t axis) const {
    change const& c = pending_[i];
    return (c.whole ? *c.whole : arrays_[i]).extent(axis) + (axis == 0 ? appended_count(c) : 0);
  }
  /// The bits of an element of a committed input, or of a number. Does not throw: the path must be in range.
  std::uint64_t input_bits(std::uint32_t i, std::span<i64 const> path) const {
    return is_number(i) ? numbers_[i] : arrays_[i].bits_at(arrays_[i].at(path));
  }
  /// The bits of an element of an input that is an array, by an index for each axis. Throws index_error.
  std::uint64_t input_at(std::uint32_t i, std::span<i64 const> path) const {
    check_not_moved();
    increments::cells const& m = arrays_[i];
    for (std::size_t k = 0; k < path.size(); ++k)
      if (static_cast<std::uint64_t>(path[k]) >= static_cast<std::uint64_t>(m.extent(k))) [[unlikely]]
        throw_outside(i, path[k], m.extent(k));
    return m.bits_at(path.size() == 1 ? static_cast<std::size_t>(path[0]) * m.size_of_scalar() : m.at(path));
  }

  update_program_cache const& update_programs() const {
    check_not_moved();
    return *update_programs_;
  }
  /// The operations of `update_programs().function()` that the last proposal recomputed, in order. Empty after a commit or a rollback.
  std::span<increments::step const> steps() const {
    if (proposal_ == nullptr) return {};
    return proposal_->update->program.steps;
  }
  /// The text of these operations.
  std::string explain() const;

private:
  struct element_change {
    i64 path[most_indices] = {};
    std::uint64_t bits = 0;
  };
  struct change {
    increments::input_change how;
    element_change elements[increments::input_change::maximum_elements];
    std::optional<increments::change_list> list;
    i64 appended_count = 0;                 // the number of appended elements
    std::uint64_t bits = 0;                 // of a number that is set
    std::optional<increments::cells> whole; // of an array
    bool is_exchanged = false; // `exchange_changes` made the appended elements a part of the array
  };
  static i64 appended_count(change const& c) { return c.how.appended ? c.appended_count : 0; }
  static std::uint64_t bits_of(increments::input_change how, std::uint32_t input) {
    return how.code() << (increments::input_change::bits * (input % maximum_encoded));
  }
  // The number of inputs whose changes the signature code encodes exactly.
  static constexpr std::uint32_t maximum_encoded = 64 / increments::input_change::bits;
  static constexpr std::uint32_t no_strategy = ~std::uint32_t{0};
  void set_change(std::uint32_t input, increments::input_change how) {
    signature_code_ += bits_of(how, input) - bits_of(pending_[input].how, input);
    pending_[input].how = how;
  }
  // Records the first pending change of an input.
  void begin_change(std::uint32_t input, increments::input_change how) {
    changed_[change_count_++] = input;
    signature_code_ += bits_of(how, input);
    pending_[input].how = how;
  }
  void begin_element_change(std::uint32_t input, i64 index, std::uint64_t bits) {
    is_proposed_ = false;
    pending_[input].elements[0].path[0] = index;
    pending_[input].elements[0].bits = bits;
    begin_change(input, {.elements = 1, .indices = 1});
  }
  void set_first_at(std::uint32_t input, i64 index, std::uint64_t bits);
  void append_element(std::uint32_t input, i64 index, std::uint64_t bits) {
    using increments::input_change;
    change& c = pending_[input];
    i64 const before = appended_count(c);
    if (before < input_change::maximum_elements) {
      c.elements[before].path[0] = index;
      c.elements[before].bits = bits;
    }
    c.appended_count = before + 1;
    if (c.how.is_same()) changed_[change_count_++] = input;
    auto const elements = static_cast<std::uint8_t>(std::min<i64>(c.appended_count, input_change::listed));
    set_change(input, {.elements = elements, .indices = 1, .appended = true});
  }
  void reset_changes() {
    change_count_ = 0;
    signature_code_ = 0;
    is_proposed_ = false;
    proposal_ = nullptr;
  }
  void clear_changes() {
    for (std::uint32_t k = 0; k < change_count_; ++k) {
      change& c = pending_[changed_[k]];
      if (c.how.appended || c.how.elements > increments::input_change::maximum_elements || c.whole)
          [[unlikely]]
        clear_change(c);
      c.how = {};
    }
    reset_changes();
  }
  static void clear_change(change& c);
  template <class F>
  void for_each_change_of_input(std::uint32_t i, F const& f) const {
    change const& c = pending_[i];
    if (c.how.appended) {
      increments::cells const& all = arrays_[i];
      i64 const first = c.elements[0].path[0];
      for (i64 k = first; k < first + c.appended_count; ++k)
        increments::for_each_scalar(
            all.data() + static_cast<std::size_t>(k) * all.bytes_of_row(), all.size_of_scalar(),
            {all.extents() + 1, all.type().rank - 1u}, {&k, 1}, f);
      return;
    }
    if (c.how.whole) {
      increments::cells const& all = *c.whole;
      increments::for_each_scalar(all.data(), all.size_of_scalar(), {all.extents(), all.type().rank}, {}, f);
    }
    if (c.how.is_listed()) {
      increments::cells const& rows = c.list->elements();
      for (std::size_t k = 0; k < c.list->size(); ++k)
        increments::for_each_scalar(
            rows.data() + k * rows.bytes_of_row(), rows.size_of_scalar(),
            {rows.extents() + 1, rows.type().rank - 1u}, c.list->indices().subspan(k, 1), f);
      return;
    }
    for (std::uint8_t k = 0; k < c.how.elements; ++k)
      f(std::span<i64 const>(c.elements[k].path, c.how.indices), c.elements[k].bits);
  }
  std::uint32_t variable_of_result(std::size_t result) const;
  void exchange_changes();
  void run_ready(bound_update& b);
  void copy_changed_elements(bound_update& b);
  void run_changes();
  void run_update_program();
  increments::update_strategy& strategy_of_changes();
  void run_plainly(increments::update_strategy& strategy);
  void count_plain_work(increments::update_strategy& strategy);
  void choose(increments::update_strategy& strategy);
  std::uint64_t count_work(bound_update& b);
  std::uint64_t count_full_work(runnable_update const& s) const;
  std::uint64_t size_of_inputs() const;
  static bool returns_lent(bound_update const& b);
  double difference_of_values(std::size_t result) const;
  // Whether the update program is for the pending changes.
  bool fits(bound_update const& b) const;
  // The version of the state on which bound update programs depend. A program whose `ready_state` equals it needs no binding.
  std::uint64_t state() const { return numbers_version_ + arrays_version_ + lengths_version_; }
  bound_update* find_update(increments::disabled_guards const& d);
  void check_guards(bound_update& b);
  void deoptimise(bound_update& speculative);
  void run_preferred(bound_update& speculative);
  void run_fallbacks(bound_update* b);
  bound_update* fallback_of(bound_update& b, std::uint64_t failed);
  std::uint64_t failed(bound_update const& b) const {
    return b.failed_guards.exists() ? b.call.word(b.failed_guards.result) : 0;
  }
  increments::change_signature signature_of_changes() const {
    increments::change_signature all;
    for (change const& c : pending_) all.push_back(c.how);
    return all;
  }
  std::unique_ptr<bound_update>
  bind(std::shared_ptr<runnable_update const> s, increments::change_signature changes);
  void bind_arguments(bound_update& b);
  void lend_arrays(bound_update& b);
  void bind_results(bound_update& b);
  static std::uint64_t const* word_of(bound_update& b, increments::update_value v);
  void bind_range_or_list(bound_update& b, increments::store const& s);
  void bind_input(bound_update& b, std::uint32_t input);
  void reset_saved_values();
  void resize_saved_values();
  void extend_saved_values();
  void run(bound_update& s);
  void run_with_other_arguments(bound_update& b);
  enum class hooks_run : bool { no, yes };
  void recompute_all(hooks_run hooks = hooks_run::yes);
  void pass_argument(bound_update& b, std::uint32_t parameter);
  void pass_gathered_rows(bound_update& b, std::uint32_t parameter);
  increments::gather_index const& gather_index_of(runnable_update const& s, std::size_t number);
  void track_writes(std::uint32_t variable);
  void commit_simple(bound_update& b);
  void commit_general();
  void recompute_all_next();
  bool cancels(bound_update const& b);
  bool cancels_other_sums(increments::store const& s, bound_call const& from);
  void write_other(bound_update const& b);
  void write_other_stores(bound_update const& b);
  void write(increments::store const& s, bound_call const& from, std::byte const* copied);
  void write_input(std::uint32_t i);
  void write_whole_input(std::uint32_t i);
  void write_listed_input(std::uint32_t i);
  increments::cells whole_input(std::uint32_t i) const;
  void make_whole(std::uint32_t i);
  void make_listed(std::uint32_t i);
  bool may_list(std::uint32_t i, std::size_t more) const;
  void add_rows(increments::store const& s, bound_call const& from);
  std::uint64_t added(
      std::uint32_t variable, std::size_t number_of, std::uint64_t sum, std::uint64_t by,
      std::uint64_t& compensation);
  void reset_magnitudes();
  double* largest_magnitude_of(std::uint32_t variable, std::size_t number);
  void add_to_other_sums(increments::store const& s, bound_call const& from);
  void check_not_moved() const {
    if (update_programs_ == nullptr) [[unlikely]]
      throw_moved();
  }
  [[noreturn]] static void throw_moved();
  void check_input(std::uint32_t i) const;
  [[noreturn]] static void throw_outside(std::uint32_t input, i64 index, i64 size);
  bool run_checking_rows(bound_update& b);
  bool rows_fit(bound_update const& b) const;
  void check_finite(std::uint32_t variable, std::uint64_t bits);
  bool is_number(std::uint32_t variable) const { return layout_[variable].type.rank == 0; }

  std::shared_ptr<update_program_cache> update_programs_;
  std::shared_ptr<std::vector<void*> const> contexts_; // the contexts whose hooks are called; null: none
  increments::layout layout_;
  std::vector<std::uint64_t> numbers_;    // by saved value: its bits, if it is a number
  std::vector<increments::cells> arrays_; // by saved value
  std::vector<std::unique_ptr<increments::reverse_index>>
      reverse_indices_; // by saved value; null until one is used
  std::vector<std::pair<ir::value_id, std::unique_ptr<increments::gather_index>>>
      gather_indices_;       // by index that is read
  std::vector<bool> is_sum_; // by saved value: whether it is a sum that is updated by differences
  std::vector<std::vector<double>> largest_magnitudes_; // by saved value: the largest magnitude of each sum
  std::uint64_t numbers_version_ = 1;                   // incremented when a saved number changes
  std::uint64_t arrays_version_ = 1;   // incremented when a saved array moves, or changes its shape
  std::uint64_t lengths_version_ = 1;  // incremented when a saved array grows in place
  std::vector<change> pending_;        // by input
  std::vector<std::uint32_t> changed_; // the first change_count_ are the inputs that changed
  increments::moved_out<std::uint32_t> change_count_;
  std::uint64_t signature_code_ = 0;
  std::vector<std::unique_ptr<bound_update>> bound_;
  increments::moved_out<bound_update*> last_;     // the last one that was used without disabled guards
  increments::moved_out<bound_update*> direct_;   // to whose arguments set_at writes directly
  increments::moved_out<bound_update*> proposal_; // of the pending proposal
  std::unique_ptr<bound_update> full_update_, plain_;
  std::unique_ptr<bound_update> without_hooks_;         // null if there are no hooks
  std::vector<increments::update_strategy> strategies_; // by change signature that was proposed
  std::uint32_t strategy_ = no_strategy;                // of the last proposal
  // numbers_version_ when the first proposal of a series with this strategy ran
  std::uint64_t version_of_strategy_ = 0;
  std::uint64_t shape_of_strategy_ = 0; // the arrays whose sizes it was last given
  std::uint64_t work_ = 0;              // of a proposal that is counted
  bool is_counting_ = false;
  std::vector<std::uint64_t> values_; // by result: the committed value
  std::uint32_t commits_until_run_ = maximum_commits;
  bool is_proposed_ = false;
  // the next proposal recomputes everything: a sum is not finite, or rounding errors accumulated
  bool must_recompute_all_ = false;
  bool is_commit_incomplete_ = false; // memory ran out in a commit
};

} // namespace overdub
