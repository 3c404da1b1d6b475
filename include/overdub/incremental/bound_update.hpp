// An update program bound to the memory of one incremental program: the addresses of its arguments, and what a commit copies where.
#pragma once

#include <overdub/compile/tiered_program.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/incremental/compensated_sum.hpp>
#include <overdub/incremental/update_program_cache.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace overdub {

/// An update program bound to one incremental program. Addresses are looked up once and reused by later updates of the same change
/// signature.
struct bound_update {
  struct word_copy { // of 8 bytes
    std::uint64_t const* from;
    std::uint64_t* to;
    void operator()() const { *to = *from; }
  };
  struct word_in_array { // of one axis
    std::uint64_t const *index, *value;
    std::uint64_t* to;
    void operator()() const { to[*index] = *value; }
  };
  // An element that is conditional, narrower than a word, or of an array whose writes are tracked.
  struct element_copy {
    std::uint64_t const *index, *value, *valid;
    std::byte* to;
    std::size_t size;
    std::uint32_t variable;
  };
  struct result_array { // a result of the update program
    std::byte const* const* elements;
    void const* const* owner; // null: the array is lent to the program, and not owned by its result
    i64 const* extents;
    bool is_lent() const { return *owner == nullptr; }
  };
  struct range_in_array { // consecutive elements of an array of one axis
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
  struct words_in_array { // a list of elements of an array of one axis
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
  struct addition { // to a sum that is a number
    std::uint64_t const* difference;
    std::uint64_t *sum, *compensation;
    std::uint64_t *sum_argument, *compensation_argument; // arguments of the update program
    double* largest_magnitude;                           // of the sum since it was last added up
    // Whether cancellation makes the rounding errors visible, so that the sum must be added up again.
    bool cancels() const {
      double const before = std::bit_cast<double>(*sum);
      return increments::is_cancelled(
          before + std::bit_cast<double>(*difference),
          increments::larger_magnitude(before, *largest_magnitude));
    }
    // Returns whether the sum can be updated later: the compensation of a sum that is not finite is NaN.
    bool operator()() const {
      double const before = std::bit_cast<double>(*sum);
      auto const [now, lost] = increments::two_sum(before, std::bit_cast<double>(*difference));
      double const left = std::bit_cast<double>(*compensation) + lost;
      *largest_magnitude = increments::larger_magnitude(before, *largest_magnitude);
      *sum = *sum_argument = std::bit_cast<std::uint64_t>(now);
      *compensation = *compensation_argument = std::bit_cast<std::uint64_t>(left);
      return !is_nan(left);
    }
  };
  struct appended_element { // of an array of one axis
    std::uint64_t const* value;
    std::uint32_t variable;
  };

  explicit bound_update(std::shared_ptr<runnable_update const> s);
  bound_update(bound_update const&) = delete;
  bound_update& operator=(bound_update const&) = delete;
  ~bound_update();

  increments::change_signature changes;
  std::uint64_t signature_code = 0;
  std::uint32_t change_count = 0;
  bool has_exact_signature = false; // the code identifies the change signature
  std::shared_ptr<runnable_update const> update;
  increments::update_value failed_guards; // a result of the update program
  tiered_call call;

  // ---- arguments; when code is replaced, their addresses are looked up again without allocation
  std::vector<bool> is_written;            // by saved value: whether a commit of this update changes it
  std::vector<word_copy> changed_elements; // indices and new values of changed elements
  // If one element of one input changes, and that input is an array of words, `set_at` writes the index and the element directly to the
  // arguments. The input, or none:
  std::uint32_t direct_input = increments::layout::none;
  increments::cells* direct_array = nullptr;
  std::uint64_t *direct_index = &unused, *direct_element = &unused;
  std::uint64_t unused = 0;
  std::vector<word_copy> number_arguments;     // saved values that are numbers,
  std::uint64_t version = 0;                   // and the version of these that was copied
  std::vector<std::uint32_t> other_parameters; // parameters that are passed anew in each call
  std::uint64_t arrays_version = 0;            // the version of the arrays that are lent,
  std::uint64_t lengths_version = 0;           // and of their lengths
  // the state of the incremental program for which all arguments but changed elements are current; 0: none
  std::uint64_t ready_state = 0;
  std::vector<increments::cells> lent_arrays;    // arrays that were made for the last call
  std::vector<std::vector<i64>> iteration_lists; // by parameter: iterations that a reverse index found
  bool has_rows = false;                         // some elements that it writes are arrays

  // ---- results
  std::byte const* results_address = nullptr;     // the address of the results for which the rest was bound
  std::vector<std::uint64_t const*> result_words; // the function's results after the update,
  std::vector<std::uint64_t const*> differences; // and by how much they change, where the program computes it
  std::uint64_t const* failed_word = nullptr;    // a bit for each guard that failed
  std::vector<word_copy> copies;                 // numbers,
  std::vector<word_in_array> words;
  std::vector<addition> additions;    // differences that are added to sums,
  std::vector<range_in_array> ranges; // and arrays, which nothing else may write meanwhile
  std::vector<words_in_array> lists;
  bool copies_arrays = false; // some stores write arrays
  bool is_simple = false;     // these are all stores; if not, also:
  std::vector<element_copy> elements;
  std::vector<appended_element> appended_elements;
  std::vector<std::uint64_t const*> checked_sums;     // sums that must be finite
  std::vector<increments::store const*> other_stores; // stores of other kinds, and all that write arrays
  std::vector<word_in_array> input_words;             // elements of inputs
  std::vector<std::uint32_t> other_inputs;            // inputs that change otherwise
  std::vector<word_copy> final_copies;        // written last: inputs, results, and arguments of this update
  std::vector<word_copy> refreshed_arguments; // arguments that a commit of this update changes

  std::unique_ptr<bound_call> work; // counts the work of a run; made when it is needed
  bool returns_lent = false;        // of a plain run: some results are parts of inputs

  // ---- deoptimisation: what runs where guards failed
  std::vector<std::pair<std::uint64_t, bound_update*>> fallbacks; // by failed guards
  // After so many failures in a row that led to the same fallback, that fallback runs at once, for the next `retry_interval` updates.
  static constexpr std::uint32_t maximum_failures = 12, retry_interval = 1000;
  bound_update *preferred = nullptr, *last_fallback = nullptr;
  std::uint32_t failures = 0, runs_until_retry = 0;

  /// Writes the saved words. Returns whether all sums can be updated later.
  bool write_words() const {
    for (word_copy const& copy : copies) copy();
    for (word_in_array const& word : words) word();
    bool is_sound = true;
    for (addition const& a : additions) is_sound = a() && is_sound;
    return is_sound;
  }
  /// Whether a commit writes nothing but words, and ranges and lists of words.
  bool writes_only_words() const { return is_simple && (!copies_arrays || !is_lent()); }
  void write_arrays() const {
    for (range_in_array const& range : ranges) range();
    for (words_in_array const& list : lists) list();
  }
  /// Writes inputs and results. Nothing after it may fail.
  void write_final() const {
    for (word_in_array const& word : input_words) word();
    for (word_copy const& copy : final_copies) copy();
  }
  /// The whole commit, where `writes_only_words`.
  bool write_simple() const {
    bool const is_sound = write_words();
    if (copies_arrays) write_arrays();
    write_final();
    return is_sound;
  }

private:
  bool is_lent() const {
    bool is = false;
    for (range_in_array const& range : ranges) is = is || range.is_lent();
    for (words_in_array const& list : lists) is = is || list.is_lent();
    return is;
  }
};

} // namespace overdub
