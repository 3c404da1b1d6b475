// A slice with where its arguments stand, and what it gives: addresses of words.
#pragma once

#include <overdub/compile/tiered_program.hpp>
#include <overdub/contexts/incremental/memory.hpp>
#include <overdub/contexts/incremental/slices.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace overdub::contexts {
inline namespace OVERDUB_EXECUTE_ABI {

/// A slice of one incremental program. What stays from update to update stays here: which word is copied where is found once.
struct bound_slice {
  struct word_copy {
    std::uint64_t const* from;
    std::uint64_t* to;
    void operator()() const { *to = *from; }
  };
  struct word_in_array { // of one axis
    std::uint64_t const *index, *value;
    std::byte* to;
    void operator()() const { increments::put_bits(to + *index * sizeof *value, sizeof *value, *value); }
  };
  struct element_copy { // the same, where it may not be there, is no word, or somebody looks at it
    std::uint64_t const *index, *value, *valid;
    std::byte* to;
    std::size_t size;
    std::uint32_t variable;
  };
  struct addition { // to a sum that stands alone
    std::uint64_t const* by;
    std::uint64_t *sum, *rest;
    double* most; // that it was
  };
  struct grown_element { // behind the end of an array of one axis
    std::uint64_t const* value;
    std::uint32_t variable;
  };

  explicit bound_slice(std::shared_ptr<runnable_slice const> s)
      : slice(std::move(s)), failed(slice->what.failed), call(slice->code) {}

  increments::schema changes;
  std::uint64_t signature = 0;
  std::shared_ptr<runnable_slice const> slice;
  increments::slice_value failed; // a result
  tiered_call call;

  // ---- arguments; where code is replaced, their addresses are found anew without asking for memory
  std::vector<bool> is_written;          // by variable: whether a commit of the slice changes it
  std::vector<word_copy> places;         // of an update: indices, and what stands there
  std::vector<word_copy> numbers;        // that are kept: as they were when
  std::uint64_t version = 0;             // they had this version
  std::vector<std::uint32_t> others;     // parameters that are asked for at each call
  std::uint64_t arrays = 0;              // which arrays it was bound to,
  std::uint64_t grown = 0;               // and how long they were
  std::vector<increments::cells> wholes; // arrays that the last call was lent,
  std::vector<std::vector<i64>> members; // by parameter: and turns of lists of indices
  bool has_rows = false;                 // some parts of arrays are arrays

  // ---- what it gives
  std::byte const* results = nullptr;            // where it stood when these were found:
  std::vector<std::uint64_t const*> outcomes;    // what the function's results would be,
  std::vector<std::uint64_t const*> differences; // and by how much they change, where that is known
  std::vector<word_copy> given;                  // those that are new, for when a commit is done
  std::vector<word_copy> copies;                 // what it copies,
  std::vector<word_in_array> words;
  std::vector<addition> additions; // what it adds,
  bool has_more = false;           // and
  std::vector<element_copy> elements;
  std::vector<grown_element> grown_elements;
  std::vector<std::uint64_t const*> sums;      // what is to be finite,
  std::vector<increments::store const*> parts; // and all else
  std::vector<word_copy> renewed;              // arguments that a commit of this slice changes

  // ---- what runs where its assumptions failed
  std::vector<std::pair<std::uint64_t, bound_slice*>> doubting; // by what failed
  // Where so many runs in a row came to the same, that runs instead, so many times.
  static constexpr std::uint32_t most_failures = 12, runs_until_tried = 1000;
  bound_slice *instead = nullptr, *found = nullptr;
  std::uint32_t failures = 0, until_tried = 0;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts
