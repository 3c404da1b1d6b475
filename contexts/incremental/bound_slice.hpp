// A slice with where its arguments stand, and what it gives: addresses of words.
#pragma once

#include <overdub/compile/tiered_program.hpp>
#include <overdub/contexts/incremental/memory.hpp>
#include <overdub/contexts/incremental/slices.hpp>
#include <overdub/contexts/incremental/sums.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace overdub::contexts {
inline namespace OVERDUB_EXECUTE_ABI {

/// A slice of one incremental program. What stays from update to update stays here: which word is copied where is found once.
struct bound_slice {
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
  struct element_copy { // the same, where it may not be there, is no word, or somebody looks at it
    std::uint64_t const *index, *value, *valid;
    std::byte* to;
    std::size_t size;
    std::uint32_t variable;
  };
  struct given_array { // by the slice
    std::byte const* const* elements;
    void const* const* owner; // nobody, where it is one that was lent
    i64 const* extents;
    bool is_lent() const { return *owner == nullptr; }
  };
  struct range_in_array { // of one axis: elements that stand beside each other
    std::uint64_t const* first;
    given_array values;
    std::byte* to;
    std::size_t size; // of one
    bool is_lent() const { return values.is_lent(); }
    void operator()() const {
      auto const bytes = static_cast<std::size_t>(*values.extents) * size;
      if (bytes > 0) std::memcpy(to + *first * size, *values.elements, bytes);
    }
  };
  struct words_in_array { // of one axis: where an array of indices says
    given_array indices, values;
    std::uint64_t* to;
    bool is_lent() const { return indices.is_lent() || values.is_lent(); }
    void operator()() const {
      auto const* const index = reinterpret_cast<std::uint64_t const*>(*indices.elements);
      auto const* const value = reinterpret_cast<std::uint64_t const*>(*values.elements);
      i64 const n = *indices.extents;
      for (i64 k = 0; k < n; ++k) to[index[k]] = value[k];
    }
  };
  struct addition { // to a sum that stands alone
    std::uint64_t const* by;
    std::uint64_t *sum, *rest;
    std::uint64_t *sum_again, *rest_again; // where the slice reads them
    double* most;                          // its largest magnitude
    // Whether the sum is to be added up anew instead, for what it was has been cancelled.
    bool cancels() const {
      double const before = std::bit_cast<double>(*sum);
      return increments::is_cancelled(
          before + std::bit_cast<double>(*by), increments::largest(before, *most));
    }
    // Whether the sum can be added to: what is rounded away of one that is not finite is no number.
    bool operator()() const {
      double const before = std::bit_cast<double>(*sum);
      auto const [now, lost] = increments::sum_of_two(before, std::bit_cast<double>(*by));
      double const left = std::bit_cast<double>(*rest) + lost;
      *most = increments::largest(before, *most);
      *sum = *sum_again = std::bit_cast<std::uint64_t>(now);
      *rest = *rest_again = std::bit_cast<std::uint64_t>(left);
      return !is_nan(left);
    }
  };
  struct grown_element { // behind the end of an array of one axis
    std::uint64_t const* value;
    std::uint32_t variable;
  };

  explicit bound_slice(std::shared_ptr<runnable_slice const> s)
      : slice(std::move(s)), failed(slice->what.failed), call(slice->code) {}

  increments::schema changes;
  std::uint64_t signature = 0;
  std::uint32_t change_count = 0;
  bool has_exact_signature = false; // it is all of the changes
  std::shared_ptr<runnable_slice const> slice;
  increments::slice_value failed; // a result
  tiered_call call;

  // ---- arguments; where code is replaced, their addresses are found anew without asking for memory
  std::vector<bool> is_written;  // by variable: whether a commit of the slice changes it
  std::vector<word_copy> places; // of an update: indices, and what stands there
  // Of an update of one place alone, in an array of words, where these are, so that who sets it writes there, too; its input, or none.
  std::uint32_t input_of_place = increments::layout::none;
  increments::cells* array_of_place = nullptr;
  std::uint64_t *index_of_place = &unused, *element_of_place = &unused;
  std::uint64_t unused = 0;
  std::vector<word_copy> numbers;        // that are kept: as they were when
  std::uint64_t version = 0;             // they had this version
  std::vector<std::uint32_t> others;     // parameters that are asked for at each call
  std::uint64_t arrays = 0;              // which arrays it was bound to,
  std::uint64_t grown = 0;               // and how long they were
  std::uint64_t ready = 0;               // all of these together, where places are all that is to be copied
  std::vector<increments::cells> wholes; // arrays that the last call was lent,
  std::vector<std::vector<i64>> members; // by parameter: and turns of lists of indices
  bool has_rows = false;                 // some parts of arrays are arrays

  // ---- what it gives
  std::byte const* results = nullptr;            // where it stood when these were found:
  std::vector<std::uint64_t const*> outcomes;    // what the function's results would be,
  std::vector<std::uint64_t const*> differences; // and by how much they change, where that is known
  std::uint64_t const* doubted = nullptr;        // which assumptions failed
  std::vector<word_copy> copies;                 // what a commit copies,
  std::vector<word_in_array> words;
  std::vector<addition> additions;    // what it adds,
  std::vector<range_in_array> ranges; // and what it copies of arrays that nothing else may change meanwhile;
  std::vector<words_in_array> lists;
  bool copies_arrays = false; // which are some;
  bool is_plain = false;      // and, where that is not all,
  std::vector<element_copy> elements;
  std::vector<grown_element> grown_elements;
  std::vector<std::uint64_t const*> sums;      // what is to be finite,
  std::vector<increments::store const*> parts; // all else, and what is copied of arrays, too
  std::vector<word_in_array> input_words;      // of inputs,
  std::vector<std::uint32_t> inputs;           // those of which other things changed,
  std::vector<word_copy> settled;              // and at the end: inputs, results, and arguments of this slice
  std::vector<word_copy> renewed;              // these arguments

  std::unique_ptr<bound_call> work; // counts what a run costs, where that is asked for
  bool gives_lent = false;          // of a plain run: some results are parts of inputs

  // ---- what runs where its assumptions failed
  std::vector<std::pair<std::uint64_t, bound_slice*>> doubting; // by what failed
  // Where so many runs in a row came to the same, that runs instead, so many times.
  static constexpr std::uint32_t most_failures = 12, runs_until_tried = 1000;
  bound_slice *instead = nullptr, *found = nullptr;
  std::uint32_t failures = 0, until_tried = 0;

  /// What a commit writes first, of what is kept. Whether all sums are such that can be added to.
  bool write_words() const {
    for (word_copy const& copy : copies) copy();
    for (word_in_array const& word : words) word();
    bool is_sound = true;
    for (addition const& a : additions) is_sound = a() && is_sound;
    return is_sound;
  }
  /// Whether words, and ranges and lists of them, are all that a commit writes.
  bool writes_words_alone() const { return is_plain && (!copies_arrays || !is_lent()); }
  void write_arrays() const {
    for (range_in_array const& range : ranges) range();
    for (words_in_array const& list : lists) list();
  }
  /// What nothing may fail behind: inputs and results.
  void settle() const {
    for (word_in_array const& word : input_words) word();
    for (word_copy const& copy : settled) copy();
  }
  /// All of these, where nothing fails.
  bool write_plain() const {
    bool const is_sound = write_words();
    if (copies_arrays) write_arrays();
    settle();
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

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts
