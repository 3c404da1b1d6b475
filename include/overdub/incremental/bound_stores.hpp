// The stores of a commit, bound to memory: what an update program computed, and where it is written.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/core/library.hpp>
#include <overdub/incremental/compensated_sum.hpp>
#include <overdub/incremental/update_program.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace overdub::increments {

/// A copy of 8 bytes.
struct word_copy {
  std::uint64_t const* from;
  std::uint64_t* to;
  void operator()() const { *to = *from; }
};
/// A write of a word to an array of one axis.
struct word_in_array {
  std::uint64_t const *index, *value;
  std::uint64_t* to;
  void operator()() const { to[*index] = *value; }
};
/// An array that is a result of the update program.
struct result_array {
  std::byte const* const* elements;
  void const* const* owner; // null: the array is lent to the program, and not owned by its result
  i64 const* extents;
  bool is_lent() const { return *owner == nullptr; }
};
/// A write of consecutive elements to an array of one axis.
struct range_in_array {
  std::uint64_t const* first;
  result_array values;
  std::byte* to;
  std::size_t size; // of one element
  bool is_lent() const { return values.is_lent(); }
  void operator()() const {
    auto const bytes = static_cast<std::size_t>(*values.extents) * size;
    if (bytes > 0) std::memcpy(to + *first * size, *values.elements, bytes);
  }
};
/// A write of a list of words to an array of one axis.
struct words_in_array {
  result_array indices, values;
  std::uint64_t* to;
  bool is_lent() const { return indices.is_lent() || values.is_lent(); }
  void operator()() const {
    auto const* const index = reinterpret_cast<std::uint64_t const*>(*indices.elements);
    auto const* const value = reinterpret_cast<std::uint64_t const*>(*values.elements);
    i64 const n = *indices.extents;
    for (i64 k = 0; k < n; ++k) to[index[k]] = value[k];
  }
};
/// An addition of a difference to a sum that is a number.
struct addition {
  std::uint64_t const* difference;
  std::uint64_t *sum, *compensation;
  std::uint64_t *sum_argument, *compensation_argument; // arguments of the update program
  double* largest_magnitude;                           // of the sum since it was last added up
  // Whether cancellation makes the rounding errors visible, so that the sum must be added up again.
  bool cancels() const {
    double const before = std::bit_cast<double>(*sum);
    return is_cancelled(
        before + std::bit_cast<double>(*difference), larger_magnitude(before, *largest_magnitude));
  }
  // Returns whether the sum can be updated later: the compensation of a sum that is not finite is NaN.
  bool operator()() const {
    double const before = std::bit_cast<double>(*sum);
    auto const [now, lost] = two_sum(before, std::bit_cast<double>(*difference));
    double const left = std::bit_cast<double>(*compensation) + lost;
    *largest_magnitude = larger_magnitude(before, *largest_magnitude);
    *sum = *sum_argument = std::bit_cast<std::uint64_t>(now);
    *compensation = *compensation_argument = std::bit_cast<std::uint64_t>(left);
    return !is_nan(left);
  }
};
/// A write of an element that is conditional, narrower than a word, or of an array whose writes are tracked.
struct element_copy {
  std::uint64_t const *index, *value, *valid;
  std::byte* to;
  std::size_t size;
  std::uint32_t variable;
};
/// An element that is appended to an array of one axis.
struct appended_element {
  std::uint64_t const* value;
  std::uint32_t variable;
};

/// Stores whose addresses are bound. They write words, and ranges and lists of words, and cannot fail.
struct direct_stores {
  std::vector<word_copy> numbers;
  std::vector<word_in_array> words;
  std::vector<addition> additions;    // differences that are added to sums
  std::vector<range_in_array> ranges; // arrays, which no other store may change before they are written
  std::vector<words_in_array> lists;
  std::vector<word_in_array> inputs; // elements of inputs
  std::vector<word_copy>
      final_copies; // inputs, results, and arguments of this update, which are written last

  void clear();
  /// Whether some of the arrays are parts of inputs and saved values.
  bool is_lent() const {
    bool is = false;
    for (range_in_array const& range : ranges) is = is || range.is_lent();
    for (words_in_array const& list : lists) is = is || list.is_lent();
    return is;
  }
  /// Writes numbers and elements. Returns whether all sums can be updated later.
  bool write_words() const {
    for (word_copy const& copy : numbers) copy();
    for (word_in_array const& word : words) word();
    bool is_sound = true;
    for (addition const& a : additions) is_sound = a() && is_sound;
    return is_sound;
  }
  void write_arrays() const {
    for (range_in_array const& range : ranges) range();
    for (words_in_array const& list : lists) list();
  }
  /// Writes inputs and results. Nothing after it may fail.
  void write_final() const {
    for (word_in_array const& word : inputs) word();
    for (word_copy const& copy : final_copies) copy();
  }
};

/// Stores of less common kinds, which may allocate.
struct other_stores {
  std::vector<element_copy> elements;
  std::vector<appended_element> appended_elements;
  std::vector<std::uint64_t const*> checked_sums; // sums that must be finite
  std::vector<store const*> stores;               // all others, and all that write arrays
  std::vector<std::uint32_t> inputs;              // inputs that change otherwise than at words

  void clear();
};

/// All stores of an update program.
struct bound_stores {
  direct_stores direct;
  other_stores other;
  bool is_direct = false;     // no other store but those of arrays, which are among the direct ones, too
  bool copies_arrays = false; // some stores write arrays

  /// Whether a commit writes the direct stores and nothing else.
  bool writes_only_direct() const { return is_direct && (!copies_arrays || !direct.is_lent()); }
  /// The whole commit, where `writes_only_direct`. Returns whether all sums can be updated later.
  bool write_direct() const {
    bool const is_sound = direct.write_words();
    if (copies_arrays) direct.write_arrays();
    direct.write_final();
    return is_sound;
  }
};

} // namespace overdub::increments
