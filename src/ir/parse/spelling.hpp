// Lookup of operation names, and suggestions for misspelt words.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/ir/op.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace overdub::ir::detail {

/// A hash table (open addressing) from names to operations, built at compile time.
class op_table {
public:
  consteval op_table() {
    for (std::size_t i = 0; i < op_count; ++i) {
      std::size_t at = slot_of(rows[i].name);
      while (slots_[at] != op::none) at = (at + 1) % size;
      slots_[at] = static_cast<op>(i);
    }
  }
  /// The operation of this name; none if there is none. O(length).
  constexpr op find(std::string_view name) const {
    for (std::size_t at = slot_of(name); slots_[at] != op::none; at = (at + 1) % size)
      if (rows[static_cast<std::size_t>(slots_[at])].name == name) return slots_[at];
    return op::none;
  }

private:
  static constexpr std::size_t size = 512;
  static_assert(op_count * 2 <= size);

  static constexpr std::size_t slot_of(std::string_view name) {
    std::uint32_t h = static_cast<std::uint32_t>(name.size());
    for (char const c : name.substr(0, 12)) h = (h ^ static_cast<std::uint8_t>(c)) * 0x01000193u;
    return (h ^ (h >> 13)) % size;
  }

  std::array<op, size> slots_ = [] {
    std::array<op, size> empty{};
    empty.fill(op::none);
    return empty;
  }();
};
OVERDUB_HIDDEN inline constexpr op_table ops_by_name;

/// The word nearest to a misspelt one, in edit distance: at most a third of its length, or one.
class nearest_word {
public:
  explicit nearest_word(std::string_view wrong)
      : wrong_(wrong.substr(0, longest)),
        least_(wrong_.size() < 2 ? 0 : std::clamp<std::size_t>(wrong_.size() / 3, 1, 3) + 1) {}

  void try_word(std::string_view word) {
    if (word.size() > longest || word == wrong_) return;
    std::size_t const d = distance(word);
    if (d >= least_) return;
    least_ = d;
    best_ = word;
  }
  /// `; did you mean X?`, or an empty text.
  std::string suggestion(std::string_view sigil = "") const {
    if (best_.empty()) return {};
    return "; did you mean " + std::string(sigil) + std::string(best_) + "?";
  }

private:
  static constexpr std::size_t longest = 40;

  // The Damerau-Levenshtein distance: insertions, deletions, substitutions and transpositions.
  std::size_t distance(std::string_view word) const {
    std::array<std::array<std::size_t, longest + 1>, 3> rows_of{}; // the last three rows
    for (std::size_t i = 0; i <= word.size(); ++i) rows_of[0][i] = i;
    for (std::size_t k = 1; k <= wrong_.size(); ++k) {
      auto& row = rows_of[k % 3];
      auto const& above = rows_of[(k + 2) % 3];
      row[0] = k;
      for (std::size_t i = 1; i <= word.size(); ++i) {
        std::size_t const changed = above[i - 1] + (word[i - 1] == wrong_[k - 1] ? 0 : 1);
        row[i] = std::min({changed, above[i] + 1, row[i - 1] + 1});
        if (i > 1 && k > 1 && word[i - 1] == wrong_[k - 2] && word[i - 2] == wrong_[k - 1])
          row[i] = std::min(row[i], rows_of[(k + 1) % 3][i - 2] + 1);
      }
    }
    return rows_of[wrong_.size() % 3][word.size()];
  }

  std::string_view wrong_;
  std::size_t least_;
  std::string_view best_;
};

} // namespace overdub::ir::detail
