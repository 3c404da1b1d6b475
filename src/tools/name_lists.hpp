// Lists of words in user input, and lookup of table rows by name.
#pragma once

#include "failure.hpp"

#include <overdub/implementation/ir/parse/faults.hpp>
#include <overdub/implementation/ir/parse/spelling.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::tools {

/// Trims surrounding space.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
  return text.substr(0, text.find_last_not_of(space) + 1);
}

/// Whether a text matches a pattern somewhere. In patterns, `.*` matches any text, and a backslash quotes the next
/// character. In practice linear, and without recursion, for arbitrary input.
inline bool contains(std::string_view text, std::string_view pattern) {
  std::string part; // between two wildcards
  auto const take_part = [&] {
    std::size_t const at = text.find(part);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + part.size());
    part.clear();
    return true;
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.substr(i, 2) == ".*") {
      ++i;
      if (!take_part()) return false;
    } else {
      if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
      part += pattern[i];
    }
  }
  return take_part();
}

/// Splits a list at commas; empty if the list is empty.
inline std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  if (trimmed(list).empty()) return words;
  for (;;) {
    std::size_t const comma = list.find(',');
    words.push_back(trimmed(list.substr(0, comma)));
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
}

/// The row of a table with this name. Throws failure, with the available names.
template <class Row>
Row const& row_called(std::string_view name, std::span<Row const> rows, std::string_view kind) {
  ir::detail::nearest_word nearest(name);
  std::string all;
  for (Row const& row : rows) {
    if (row.name == name) return row;
    nearest.try_word(row.name);
    all += (all.empty() ? "" : ", ") + std::string(row.name);
  }
  throw failure(
      exit_code::usage, "there is no " + std::string(kind) + " " + ir::detail::quoted(name) +
                            nearest.suggestion() + "\n  there are: " + all);
}

} // namespace overdub::tools
