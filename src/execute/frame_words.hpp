// The words of a function's frame.
#pragma once

#include <overdub/execute/instruction.hpp>

#include <utility>
#include <vector>

namespace overdub::execute {

/// No word of a frame.
inline constexpr offset no_word = ~offset{};

/// Allocates words: those that were freed last first, by number of words.
class frame_words {
public:
  explicit frame_words(offset first) : end_(first) {}

  /// Allocates `words` consecutive words; returns their offset.
  offset allocate(offset words) {
    if (words < free_.size() && !free_[words].empty()) {
      offset const at = free_[words].back();
      free_[words].pop_back();
      return at;
    }
    offset const at = end_;
    end_ += words * word_size;
    return at;
  }
  /// Allocates a word that no value has used; returns its offset.
  offset allocate_untouched() { return std::exchange(end_, end_ + word_size); }
  void free(offset at, offset words) {
    if (free_.size() <= words) free_.resize(words + 1);
    free_[words].push_back(at);
  }
  offset bytes() const { return end_; }

private:
  offset end_;
  std::vector<std::vector<offset>> free_; // by number of words
};

} // namespace overdub::execute
