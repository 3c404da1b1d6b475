// A program that follows changes of its inputs, where types are known at run time.
#pragma once

#include <overdub/contexts/incremental/bound_slice.hpp>
#include <overdub/contexts/incremental/change_list.hpp>
#include <overdub/contexts/incremental/error.hpp>
#include <overdub/contexts/incremental/gather_index.hpp>
#include <overdub/contexts/incremental/inverse_index.hpp>
#include <overdub/contexts/incremental/memory.hpp>
#include <overdub/contexts/incremental/parts.hpp>
#include <overdub/contexts/incremental/slices.hpp>
#include <overdub/contexts/incremental/update_kind.hpp>
#include <overdub/execute/bound_call.hpp>

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

namespace overdub::contexts {
inline namespace OVERDUB_EXECUTE_ABI {

/// A function's value, saved with its inputs. When inputs change, the value is updated: what the changes affect is recomputed, and
/// nothing else. Changes are set, proposed, and then committed or rolled back. Used by one thread at a time. All of them for one function
/// share its update programs. One that was moved from can be assigned to; changes and proposals of it, and its value, throw incremental_error.
class incremental_program {
public:
  static constexpr std::size_t most_indices = 3;
  /// Lists are of at most one in so many elements of an array.
  static constexpr std::size_t least_unlisted = 8;
  /// After so many commits everything is recomputed, so that the rounding errors of differences stay small.
  static constexpr std::uint32_t most_commits = 1u << 20;

  /// Runs the function once.
  OVERDUB_DECL incremental_program(
      std::shared_ptr<incremental_slices> of, std::vector<datum> const& inputs,
      std::shared_ptr<std::vector<void*> const> contexts = nullptr);
  /// Copies the committed state, without pending changes. O(saved values); runs nothing.
  OVERDUB_DECL incremental_program(incremental_program const& other);
  incremental_program(incremental_program&&) = default;
  /// The same. For the same function, memory is reused, and allocated only where arrays are longer than here. Where there
  /// is none, the committed state is unchanged, and so are pending changes, which must be proposed again.
  OVERDUB_DECL incremental_program& operator=(incremental_program const& other);
  incremental_program& operator=(incremental_program&&) = default;
  ~incremental_program() = default;

  // ---- changes, which are not made yet

  /// Sets an input.
  OVERDUB_DECL void set(std::uint32_t input, datum const& x);
  /// The same of an input that is a number, by its bits. O(1).
  void set_bits(std::uint32_t input, std::uint64_t bits) {
    if (input >= pending_.size() || !is_number(input)) [[unlikely]]
      return set(input, datum()); // which says what is wrong
    change& c = pending_[input];
    bool const is_first = c.how.is_same();
    if (is_first && bits == numbers_[input]) return; // as it is
    is_proposed_ = false;
    c.bits = bits;
    if (is_first) begin(input, {.whole = true});
  }
  /// Sets an input whose value with pending changes is `now`, and finds the elements that differ: a few, a list, or all. O(elements).
  OVERDUB_DECL void set_differing(std::uint32_t input, datum const& now, datum const& x);
  /// Sets an element of an input, by its bits. Throws index_error. O(1), and O(length) where the array then counts as changed as a whole. Of
  /// arrays of arrays it is O(1) for four elements in an update, each in another row, and O(length of a row) for others.
  OVERDUB_DECL void set_at(std::uint32_t input, std::span<i64 const> path, std::uint64_t bits);
  /// The same of an array of one axis.
  void set_at(std::uint32_t input, i64 index, std::uint64_t bits) {
    bound_slice* const b = told_;
    if (change_count_ > 0 || b == nullptr || b->input_of_place != input ||
        static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(b->array_of_place->extent(0)))
        [[unlikely]]
      return set_first_at(input, index, bits);
    if (b->array_of_place->words()[index] == bits) return; // as it is
    *b->index_of_place = static_cast<std::uint64_t>(index);
    *b->element_of_place = bits;
    begin_at(input, index, bits);
  }

  /// Appends an element to an input that is an array of numbers, by its bits. O(1), amortised.
  void append(std::uint32_t input, std::uint64_t bits) {
    if (input >= pending_.size()) [[unlikely]]
      return append(input, datum());
    change& c = pending_[input];
    increments::cells& m = arrays_of_[input];
    if (m.type().rank != 1 || m.extent(0) == 0 || !(c.how.is_same() || c.how.appended)) [[unlikely]]
      return append(input, datum::of_bits(m.type().element_type(), bits));
    is_proposed_ = false;
    i64 const index = m.extent(0) + more(c);
    if (!m.reserve_rows(more(c) + 1)) ++arrays_;
    m.set_bits_at(static_cast<std::size_t>(index) * m.size_of_scalar(), bits);
    append_place(input, index, bits);
  }
  /// Appends an element to an input that is an array; to arrays of arrays, a row. O(its length), amortised.
  OVERDUB_DECL void append(std::uint32_t input, datum const& x);

  // ---- updates

  /// Computes the function with the pending changes. Throws what the function throws; the state is then unchanged, with the pending changes.
  OVERDUB_DECL void propose();
  /// Makes the pending changes. Proposes them first, where that was not done.
  OVERDUB_DECL void commit();
  /// Discards the pending changes.
  void rollback() { forget_changes(); }

  bool has_changes() const { return change_count_ > 0; }
  bool is_proposed() const { return is_proposed_; }
  [[noreturn]] OVERDUB_DECL void throw_not_proposed() const;

  // ---- values

  /// The bits of a result that is a number: as it is, and as it was proposed.
  std::uint64_t value(std::size_t result = 0) const {
    check_not_moved();
    return values_[result];
  }
  std::uint64_t proposed(std::size_t result = 0) const {
    return is_proposed_ && proposal_ != nullptr ? *proposal_->outcomes[result] : value(result);
  }
  /// By how much the proposal changes a result that is a number: for a sum, its difference, without the cancellation of subtracting two sums.
  double difference(std::size_t result = 0) const {
    if (!is_proposed_ || proposal_ == nullptr) return 0;
    if (std::uint64_t const* const by = proposal_->differences[result]; by != nullptr) [[likely]]
      return std::bit_cast<double>(*by);
    return difference_of_values(result);
  }
  /// Calls f(path, bits) for the elements of a result that the proposal recomputed, in any order: those that changed, and maybe
  /// others. A number has an empty path; an appended element has a path that is not valid for `result_bits` yet. O(what was
  /// recomputed).
  template <class F>
  void for_each_change(std::size_t result, F const& f) const {
    if (!is_proposed_ || proposal_ == nullptr) return;
    std::uint32_t const v = variable_of_result(result);
    if (v == increments::layout::none) return;
    if (is_number(v)) return f(std::span<i64 const>(), proposed(result));
    if (v < pending_.size()) return for_each_change_of_input(v, f);
    increments::cells const& as_it_is = arrays_of_[v];
    for (increments::store const& s : proposal_->slice->what.stores) {
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
  /// The bits of an element of a result, or of a number, as it is. Throws nothing: the path is in range.
  std::uint64_t result_bits(std::size_t result, std::span<i64 const> path) const {
    std::uint32_t const v = path.empty() ? increments::layout::none : variable_of_result(result);
    return v == increments::layout::none ? values_[result] : arrays_of_[v].bits_at(arrays_of_[v].at(path));
  }
  /// Calls f() while inputs are what they were set to: for `pass_input`, `input_bits` and `input`; and while they are as they are.
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
  /// A result, and an input.
  OVERDUB_DECL datum result(std::size_t result) const;
  OVERDUB_DECL datum input(std::uint32_t i) const;

  /// An input as it is, without changes, as an argument of another program: arrays are read where they are.
  void pass_input(bound_call& to, std::size_t parameter, std::uint32_t i) const {
    if (is_number(i))
      to.set(parameter, numbers_[i]);
    else
      to.lend(parameter, arrays_of_[i].data(), arrays_of_[i].extents());
  }
  /// The extents of an input that is an array.
  i64 const* input_extents(std::uint32_t i) const { return arrays_of_[i].extents(); }
  /// The same with the changes.
  i64 proposed_extent(std::uint32_t i, std::size_t axis) const {
    change const& c = pending_[i];
    return (c.whole ? *c.whole : arrays_of_[i]).extent(axis) + (axis == 0 ? more(c) : 0);
  }
  /// The bits of an element of an input, or of a number. Throws nothing: the path is in range.
  std::uint64_t input_bits(std::uint32_t i, std::span<i64 const> path) const {
    return is_number(i) ? numbers_[i] : arrays_of_[i].bits_at(arrays_of_[i].at(path));
  }
  /// The bits of an element of an input that is an array, by an index for each axis. Throws index_error.
  std::uint64_t input_at(std::uint32_t i, std::span<i64 const> path) const {
    check_not_moved();
    increments::cells const& m = arrays_of_[i];
    for (std::size_t k = 0; k < path.size(); ++k)
      if (static_cast<std::uint64_t>(path[k]) >= static_cast<std::uint64_t>(m.extent(k))) [[unlikely]]
        throw_outside(i, path[k], m.extent(k));
    return m.bits_at(path.size() == 1 ? static_cast<std::size_t>(path[0]) * m.size_of_scalar() : m.at(path));
  }

  incremental_slices const& all_slices() const {
    check_not_moved();
    return *slices_;
  }
  /// What ran in the last proposal, in order: operations of `all_slices().function()`. Nothing, when it was committed or rolled back.
  std::span<increments::step const> steps() const {
    if (proposal_ == nullptr) return {};
    return proposal_->slice->what.steps;
  }
  /// The same in words.
  OVERDUB_DECL std::string explain() const;

private:
  struct place {
    i64 path[most_indices] = {};
    std::uint64_t bits = 0;
  };
  struct change {
    increments::input_change how;
    place places[increments::input_change::most_places];
    std::optional<increments::change_list> list;
    i64 came = 0;                           // elements, where some are appended
    std::uint64_t bits = 0;                 // of a number that is set
    std::optional<increments::cells> whole; // of an array
    bool is_there = false;                  // what was appended is a part of the array now
  };
  static i64 more(change const& c) { return c.how.appended ? c.came : 0; }
  static std::uint64_t bits_of(increments::input_change how, std::uint32_t input) {
    return how.code() << (increments::input_change::bits * (input % most_signed));
  }
  // Of so many inputs the signature is all of the schema.
  static constexpr std::uint32_t most_signed = 64 / increments::input_change::bits;
  static constexpr std::uint32_t no_kind = ~std::uint32_t{0};
  void mark(std::uint32_t input, increments::input_change how) {
    signature_ += bits_of(how, input) - bits_of(pending_[input].how, input);
    pending_[input].how = how;
  }
  // The same of an input that is as it is.
  void begin(std::uint32_t input, increments::input_change how) {
    changed_[change_count_++] = input;
    signature_ += bits_of(how, input);
    pending_[input].how = how;
  }
  void begin_at(std::uint32_t input, i64 index, std::uint64_t bits) {
    is_proposed_ = false;
    pending_[input].places[0].path[0] = index;
    pending_[input].places[0].bits = bits;
    begin(input, {.places = 1, .indices = 1});
  }
  OVERDUB_DECL void set_first_at(std::uint32_t input, i64 index, std::uint64_t bits);
  void append_place(std::uint32_t input, i64 index, std::uint64_t bits) {
    using increments::input_change;
    change& c = pending_[input];
    i64 const before = more(c);
    if (before < input_change::most_places) {
      c.places[before].path[0] = index;
      c.places[before].bits = bits;
    }
    c.came = before + 1;
    if (c.how.is_same()) changed_[change_count_++] = input;
    auto const places = static_cast<std::uint8_t>(std::min<i64>(c.came, input_change::listed));
    mark(input, {.places = places, .indices = 1, .appended = true});
  }
  void has_no_changes() {
    change_count_ = 0;
    signature_ = 0;
    is_proposed_ = false;
    proposal_ = nullptr;
  }
  void forget_changes() {
    for (std::uint32_t k = 0; k < change_count_; ++k) {
      change& c = pending_[changed_[k]];
      if (c.how.appended || c.how.places > increments::input_change::most_places || c.whole) [[unlikely]]
        forget_parts(c);
      c.how = {};
    }
    has_no_changes();
  }
  OVERDUB_DECL static void forget_parts(change& c);
  template <class F>
  void for_each_change_of_input(std::uint32_t i, F const& f) const {
    change const& c = pending_[i];
    if (c.how.appended) {
      increments::cells const& all = arrays_of_[i];
      i64 const first = c.places[0].path[0];
      for (i64 k = first; k < first + c.came; ++k)
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
    for (std::uint8_t k = 0; k < c.how.places; ++k)
      f(std::span<i64 const>(c.places[k].path, c.how.indices), c.places[k].bits);
  }
  OVERDUB_DECL std::uint32_t variable_of_result(std::size_t result) const;
  OVERDUB_DECL void exchange_changes();
  void run_ready(bound_slice& b);
  void take_places(bound_slice& b);
  void run_changes();
  void run_slices();
  increments::update_kind& kind_of_changes();
  void run_plainly(increments::update_kind& kind);
  OVERDUB_DECL void count_plain(increments::update_kind& kind);
  OVERDUB_DECL void choose(increments::update_kind& kind);
  std::uint64_t work_of(bound_slice& b);
  std::uint64_t work_of_all(runnable_slice const& s) const;
  std::uint64_t size_of_inputs() const;
  static bool gives_lent(bound_slice const& b);
  OVERDUB_DECL double difference_of_values(std::size_t result) const;
  // Whether the slice is for the changes.
  bool fits(bound_slice const& b) const;
  // Another number where something that slices are bound to changed. Where it is what it was for a slice that is ready, that one is.
  std::uint64_t state() const { return numbers_version_ + arrays_ + grown_; }
  bound_slice* find_slice(increments::doubts const& d);
  void look_at_assumptions(bound_slice& b);
  void learn(bound_slice& most);
  void run_instead(bound_slice& most);
  void run_doubting(bound_slice* b);
  bound_slice* doubting(bound_slice& b, std::uint64_t failed);
  std::uint64_t failed(bound_slice const& b) const {
    return b.failed.exists() ? b.call.word(b.failed.result) : 0;
  }
  increments::schema schema() const {
    increments::schema all;
    for (change const& c : pending_) all.push_back(c.how);
    return all;
  }
  OVERDUB_DECL std::unique_ptr<bound_slice>
  make_bound(std::shared_ptr<runnable_slice const> s, increments::schema changes);
  OVERDUB_DECL void find_arguments(bound_slice& b);
  OVERDUB_DECL void lend_arrays(bound_slice& b);
  OVERDUB_DECL void find_results(bound_slice& b);
  static std::uint64_t const* word_of(bound_slice& b, increments::slice_value v);
  void find_range_or_list(bound_slice& b, increments::store const& s);
  void find_input(bound_slice& b, std::uint32_t input);
  OVERDUB_DECL void keep_all();
  void grow();
  void keep_more();
  void run(bound_slice& s);
  void run_with_others(bound_slice& b);
  enum class hooks_run : bool { no, yes };
  OVERDUB_DECL void run_all(hooks_run hooks = hooks_run::yes);
  void pass(bound_slice& b, std::uint32_t parameter);
  void pass_gathered(bound_slice& b, std::uint32_t parameter);
  increments::gather_index const& gathered(runnable_slice const& s, std::size_t number);
  void follow_writes(std::uint32_t variable);
  void commit_plain(bound_slice& b);
  void commit_parts();
  void run_all_next();
  bool cancels(bound_slice const& b);
  bool cancels_parts(increments::store const& s, bound_call const& from);
  void commit_more(bound_slice const& b);
  void write_parts(bound_slice const& b);
  void write(increments::store const& s, bound_call const& from, std::byte const* copied);
  void write_input(std::uint32_t i);
  void write_whole_input(std::uint32_t i);
  void write_listed_input(std::uint32_t i);
  OVERDUB_DECL increments::cells whole_input(std::uint32_t i) const;
  void make_whole(std::uint32_t i);
  void make_listed(std::uint32_t i);
  bool may_list(std::uint32_t i, std::size_t more) const;
  void add_rows(increments::store const& s, bound_call const& from);
  std::uint64_t added(
      std::uint32_t variable, std::size_t number_of, std::uint64_t sum, std::uint64_t by,
      std::uint64_t& rest);
  void begin_sums();
  OVERDUB_DECL double* most_of(std::uint32_t variable, std::size_t number);
  void add_parts(increments::store const& s, bound_call const& from);
  void check_not_moved() const {
    if (slices_ == nullptr) [[unlikely]]
      throw_moved();
  }
  [[noreturn]] OVERDUB_DECL static void throw_moved();
  void check_input(std::uint32_t i) const;
  [[noreturn]] OVERDUB_DECL static void throw_outside(std::uint32_t input, i64 index, i64 size);
  bool run_with_rows(bound_slice& b);
  bool rows_fit(bound_slice const& b) const;
  void look_at(std::uint32_t variable, std::uint64_t bits);
  bool is_number(std::uint32_t variable) const { return layout_[variable].type.rank == 0; }

  std::shared_ptr<incremental_slices> slices_;
  std::shared_ptr<std::vector<void*> const> contexts_; // whose hooks are called; nothing: there are none
  increments::layout layout_;
  std::vector<std::uint64_t> numbers_;       // by variable: its bits, where it is a number
  std::vector<increments::cells> arrays_of_; // by variable
  std::vector<std::unique_ptr<increments::inverse_index>> inverse_; // by variable, where one was asked for
  std::vector<std::pair<ir::value_id, increments::gather_index>> gathered_; // by index that is read
  std::vector<bool> is_sum_;              // by variable: whether differences are added to it
  std::vector<std::vector<double>> most_; // of each sum, its largest magnitude
  std::uint64_t numbers_version_ = 1;     // another number where a number that is kept changed
  std::uint64_t arrays_ = 1;              // another number where an array moved, or changed its shape
  std::uint64_t grown_ = 1;               // another number where an array got longer where it stands
  std::vector<change> pending_;           // by input
  std::vector<std::uint32_t> changed_;    // the inputs that changed, so many
  increments::moved_out<std::uint32_t> change_count_;
  std::uint64_t signature_ = 0;
  std::vector<std::unique_ptr<bound_slice>> bound_;
  increments::moved_out<bound_slice*> last_;     // that was found, and doubts nothing
  increments::moved_out<bound_slice*> told_;     // that is told the one place that changes when it is set
  increments::moved_out<bound_slice*> proposal_; // that ran
  std::unique_ptr<bound_slice> all_, plain_;
  std::unique_ptr<bound_slice> without_hooks_; // all, without hooks, where there are some
  std::vector<increments::update_kind> kinds_; // that were proposed
  std::uint32_t kind_ = no_kind;               // of the last proposal that was looked up
  std::uint64_t version_of_kind_ = 0;          // of numbers, when the first of its proposals in a row ran
  std::uint64_t shape_of_kind_ = 0;            // the arrays that its size was looked at for
  std::uint64_t work_ = 0;                     // of a proposal, as far as it is counted
  bool is_counting_ = false;
  std::vector<std::uint64_t> values_; // by result, as it is
  std::uint32_t commits_until_run_ = most_commits;
  bool is_proposed_ = false;
  bool is_improper_ =
      false; // the next proposal runs everything: a sum is not finite, or many differences were added to it
  bool is_torn_ = false; // a commit was not done to its end
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/incremental/incremental_bind.ipp>
#include <overdub/contexts/incremental/incremental_commit.ipp>
#include <overdub/contexts/incremental/incremental_explain.ipp>
#include <overdub/contexts/incremental/incremental_program.ipp>
#include <overdub/contexts/incremental/incremental_propose.ipp>
#endif
