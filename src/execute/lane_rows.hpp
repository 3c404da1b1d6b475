// Rows of lanes: the memory of the numbers of one block.
#pragma once

#include <overdub/implementation/execute/frame_slots.hpp>
#include <overdub/implementation/execute/frame_words.hpp>

#include <vector>

namespace overdub::execute {

/// Allocates the rows of one vectorised map, by number, and a word of the frame for the pointer to each.
class lane_rows {
public:
  explicit lane_rows(frame_slots& slots) : slots_(slots) {}

  /// Allocates consecutive rows; returns the first.
  offset take(offset count = 1) { return rows_.allocate(count) / word_size; }
  void free(offset row, offset count = 1) { rows_.free(row * word_size, count); }
  /// The number of rows that the map needs.
  offset count() const { return rows_.bytes() / word_size; }

  /// The word of the pointer to a row. It is written before the map begins, and no other value may use it.
  offset pointer_to(offset row) {
    if (pointers_.size() <= row) pointers_.resize(row + 1, no_word);
    if (pointers_[row] == no_word) pointers_[row] = slots_.allocate_untouched();
    return pointers_[row];
  }
  /// The pointer to a row for the operation that is lowered, after which free_temporary frees the row.
  offset temporary() {
    temporary_.push_back(take());
    return pointer_to(temporary_.back());
  }
  void free_temporary() {
    for (offset const row : temporary_) free(row);
    temporary_.clear();
  }
  /// At the end of the map: the list of pointers, {word, row}, whose words it frees.
  std::vector<offset> end() {
    std::vector<offset> list;
    for (std::size_t row = 0; row < pointers_.size(); ++row) {
      if (pointers_[row] == no_word) continue;
      list.push_back(pointers_[row]);
      list.push_back(static_cast<offset>(row));
      slots_.free(pointers_[row], 1);
    }
    return list;
  }

private:
  frame_slots& slots_;
  frame_words rows_{0};          // in units of words
  std::vector<offset> pointers_; // by row: the word
  std::vector<offset> temporary_;
};

} // namespace overdub::execute
