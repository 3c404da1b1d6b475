// The changes of inputs that were set, and not committed yet.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/incremental/change_list.hpp>
#include <overdub/incremental/saved_values.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/incremental/update_results.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace overdub::increments {

/// The change of an input.
struct pending_change {
  static constexpr std::size_t max_indices = 3;
  struct element {
    i64 path[max_indices] = {};
    std::uint64_t bits = 0;
  };

  input_change how;
  element elements[input_change::maximum_elements];
  std::optional<change_list> list;
  i64 appended_count =
      0; // the number of appended elements, which stand after the last element of the saved array
  std::uint64_t bits = 0;     // of a number that is set
  std::optional<cells> whole; // of an array
  bool is_exchanged = false;  // `exchange` made the appended elements a part of the array

  i64 appended() const { return how.appended ? appended_count : 0; }
};

/// A change signature, and what identifies it fast.
struct change_key {
  change_signature signature; // empty: all inputs may change
  std::uint64_t code = 0;
  std::uint32_t count = 0; // the number of inputs that change
  bool is_exact = false;   // the code identifies the signature
};

/// The pending changes of all inputs. Inputs are those of `saved_values`, to whose ends elements are appended. Arguments are
/// valid inputs; others are not checked.
class pending_changes {
public:
  /// A list of changed elements has at most 1 / listed_fraction of the elements of its array. If more change, the whole array is changed.
  static constexpr std::size_t listed_fraction = 8;

  explicit pending_changes(std::size_t inputs) : of_(inputs), changed_(inputs) {}
  /// A copy has as many inputs, and no changes.
  pending_changes(pending_changes const& other) : pending_changes(other.of_.size()) {}
  pending_changes(pending_changes&& other) noexcept = default;
  pending_changes& operator=(pending_changes const& other) = delete;
  pending_changes& operator=(pending_changes&& other) noexcept = default;
  ~pending_changes() = default;

  /// The number of inputs; 0 after a move.
  std::uint32_t inputs() const { return static_cast<std::uint32_t>(of_.size()); }
  pending_change& operator[](std::uint32_t input) { return of_[input]; }
  pending_change const& operator[](std::uint32_t input) const { return of_[input]; }
  /// The inputs that changed, in the order of their first changes.
  std::span<std::uint32_t const> changed() const { return {changed_.data(), count_}; }
  bool is_empty() const { return count_ == 0; }

  /// The signature of the changes, and whether a key is of that signature. O(1) if the code of the signature is exact.
  change_signature signature() const;
  std::uint64_t code() const { return code_; }
  bool has_exact_code() const { return of_.size() <= maximum_encoded; }
  change_key key(change_signature s) const { return {std::move(s), code_, count_, has_exact_code()}; }
  bool has(change_key const& k) const {
    if (k.code != code_) return false;
    if (k.is_exact) [[likely]]
      return true;
    return k.count == count_ &&
           std::ranges::all_of(changed(), [&](std::uint32_t i) { return k.signature[i] == of_[i].how; });
  }

  /// Whether a proposal has the changes as they are now. Setting an input ends it.
  bool is_proposed() const { return is_proposed_; }
  void set_proposed(bool is) { is_proposed_ = is; }

  // ---- changing inputs

  /// Sets a number, whose saved value is `committed`.
  void set_number(std::uint32_t input, std::uint64_t bits, std::uint64_t committed) {
    pending_change& c = of_[input];
    bool const is_first = c.how.is_same();
    if (is_first && bits == committed) return; // no change
    is_proposed_ = false;
    c.bits = bits;
    if (is_first) begin(input, {.whole = true});
  }
  /// Sets an array as a whole.
  void set_array(std::uint32_t input, datum const& x);
  /// Sets an element of an array of one axis as the first change of that input. It must differ from the saved one.
  void set_first_element(std::uint32_t input, i64 index, std::uint64_t bits) {
    is_proposed_ = false;
    of_[input].elements[0].path[0] = index;
    of_[input].elements[0].bits = bits;
    begin(input, {.elements = 1, .indices = 1});
  }
  /// Sets an element of an array. Throws index_error.
  void set_element(saved_values& saved, std::uint32_t input, std::span<i64 const> path, std::uint64_t bits);
  /// Appends a number to an array of one axis. Returns false, and does nothing, if the array is empty or has other changes.
  bool append_number(saved_values& saved, std::uint32_t input, std::uint64_t bits) {
    pending_change& c = of_[input];
    cells& m = saved.arrays[input];
    if (m.type().rank != 1 || m.extent(0) == 0 || !(c.how.is_same() || c.how.appended)) [[unlikely]]
      return false;
    is_proposed_ = false;
    i64 const index = m.extent(0) + c.appended();
    if (!m.reserve_rows(c.appended() + 1)) ++saved.versions.arrays;
    m.set_bits_at(static_cast<std::size_t>(index) * m.size_of_scalar(), bits);
    add_appended(input, index, bits);
    return true;
  }
  /// Appends an element to an array. Throws size_error for a row of another length.
  void append(saved_values& saved, std::uint32_t input, datum const& x);

  /// Discards the changes.
  void clear() {
    for (std::uint32_t const i : changed()) {
      pending_change& c = of_[i];
      if (c.how.appended || c.how.elements > input_change::maximum_elements || c.whole) [[unlikely]]
        clear(c);
      c.how = {};
    }
    reset();
  }
  /// The same, where all changes are numbers and single elements.
  void clear_words() {
    for (std::uint32_t const i : changed()) of_[i].how = {};
    reset();
  }

  // ---- inputs with their changes

  /// Throws index_error for indices that an array does not have. The first axes are not checked.
  static void
  check_indices(std::uint32_t input, std::span<i64 const> path, cells const& of, std::size_t first = 0) {
    for (std::size_t k = first; k < path.size(); ++k)
      if (static_cast<std::uint64_t>(path[k]) >= static_cast<std::uint64_t>(of.extent(k))) [[unlikely]]
        throw_outside(input, path[k], of.extent(k));
  }
  /// An array with its changes.
  cells whole(std::uint32_t input, saved_values const& saved) const;
  i64 extent(std::uint32_t input, std::size_t axis, saved_values const& saved) const {
    pending_change const& c = of_[input];
    return (c.whole ? *c.whole : saved.arrays[input]).extent(axis) + (axis == 0 ? c.appended() : 0);
  }
  /// Exchanges the saved inputs and the changed ones. Called twice, it restores both.
  void exchange(saved_values& saved);
  /// Calls f(path, bits) for the changed elements of an array.
  template <class F>
  void for_each_scalar(std::uint32_t input, saved_values const& saved, F const& f) const {
    pending_change const& c = of_[input];
    if (c.how.appended) {
      cells const& all = saved.arrays[input];
      i64 const first = c.elements[0].path[0];
      for (i64 k = first; k < first + c.appended_count; ++k)
        increments::for_each_scalar(
            all.data() + static_cast<std::size_t>(k) * all.bytes_of_row(), all.size_of_scalar(),
            {all.extents() + 1, all.type().rank - 1u}, {&k, 1}, f);
      return;
    }
    if (c.how.whole) {
      cells const& all = *c.whole;
      increments::for_each_scalar(all.data(), all.size_of_scalar(), {all.extents(), all.type().rank}, {}, f);
    }
    if (c.how.is_listed()) {
      cells const& rows = c.list->elements();
      for (std::size_t k = 0; k < c.list->size(); ++k)
        increments::for_each_scalar(
            rows.data() + k * rows.bytes_of_row(), rows.size_of_scalar(),
            {rows.extents() + 1, rows.type().rank - 1u}, c.list->indices().subspan(k, 1), f);
      return;
    }
    for (std::uint8_t k = 0; k < c.how.elements; ++k)
      f(std::span<i64 const>(c.elements[k].path, c.how.indices), c.elements[k].bits);
  }

  // ---- an update in between

  /// All changes, while another update runs.
  struct set_aside {
    std::vector<pending_change> of;
    std::uint32_t count;
    std::uint64_t code;
  };
  /// Removes all changes, and returns them.
  set_aside put_aside();
  /// Makes them pending again, at the same addresses, to which update programs are bound. No change was set meanwhile.
  void restore(set_aside& all) noexcept;

private:
  // The number of inputs whose changes the code encodes exactly.
  static constexpr std::uint32_t maximum_encoded = 64 / input_change::bits;
  static std::uint64_t code_of(input_change how, std::uint32_t input) {
    return how.code() << (input_change::bits * (input % maximum_encoded));
  }
  // Records the first change of an input.
  void begin(std::uint32_t input, input_change how) {
    changed_[count_++] = input;
    code_ += code_of(how, input);
    of_[input].how = how;
  }
  // Records a change, which may be the first one.
  void change(std::uint32_t input, input_change how) {
    if (of_[input].how.is_same()) return begin(input, how);
    code_ += code_of(how, input) - code_of(of_[input].how, input);
    of_[input].how = how;
  }
  void add_appended(std::uint32_t input, i64 index, std::uint64_t bits) {
    pending_change& c = of_[input];
    i64 const before = c.appended();
    if (before < input_change::maximum_elements) {
      c.elements[before].path[0] = index;
      c.elements[before].bits = bits;
    }
    c.appended_count = before + 1;
    auto const elements = static_cast<std::uint8_t>(std::min<i64>(c.appended_count, input_change::listed));
    change(input, {.elements = elements, .indices = 1, .appended = true});
  }
  bool set_single_element(
      std::uint32_t input, std::span<i64 const> path, std::uint64_t bits, cells const& committed);
  bool may_list(std::uint32_t input, saved_values const& saved) const;
  void make_listed(std::uint32_t input, saved_values const& saved);
  void make_whole(std::uint32_t input, saved_values const& saved);
  static void clear(pending_change& c);
  [[noreturn]] static void throw_outside(std::uint32_t input, i64 index, i64 size);
  void reset() {
    count_ = 0;
    code_ = 0;
    is_proposed_ = false;
  }

  std::vector<pending_change> of_;     // by input
  std::vector<std::uint32_t> changed_; // the first count_ are the inputs that changed
  moved_out<std::uint32_t> count_;
  std::uint64_t code_ = 0;
  bool is_proposed_ = false;
};

} // namespace overdub::increments
