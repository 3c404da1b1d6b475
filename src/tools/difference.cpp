#include "difference.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace overdub::tools {
namespace {

using line_list = std::vector<std::string_view>;

line_list lines_of(std::string_view text) {
  line_list all;
  while (!text.empty()) {
    std::size_t const end = std::min(text.find('\n'), text.size());
    all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

struct change {
  char kind; // ' ', '-' or '+'
  std::string_view line;
};

// The edit script between two lists, by their longest common subsequence.
std::vector<change> changes(line_list const& from, line_list const& to) {
  std::size_t const least = std::min(from.size(), to.size());
  std::size_t front = 0;
  while (front < least && from[front] == to[front]) ++front;
  std::size_t back = 0;
  while (back < least - front && from[from.size() - 1 - back] == to[to.size() - 1 - back]) ++back;
  std::size_t const n = from.size() - front - back;
  std::size_t const m = to.size() - front - back;

  std::vector<change> all;
  for (std::size_t i = 0; i < front; ++i) all.push_back({' ', from[i]});
  constexpr std::size_t max_cells = 16'000'000;
  std::size_t i = 0;
  std::size_t j = 0;
  if (n * m <= max_cells) {                               // else the middle is replaced as a whole
    std::vector<std::uint32_t> common((n + 1) * (m + 1)); // lengths for from[i...] and to[j...]
    auto at = [&](std::size_t a, std::size_t b) -> std::uint32_t& { return common[a * (m + 1) + b]; };
    for (std::size_t a = n; a-- > 0;)
      for (std::size_t b = m; b-- > 0;)
        at(a, b) =
            from[front + a] == to[front + b] ? at(a + 1, b + 1) + 1 : std::max(at(a + 1, b), at(a, b + 1));
    while (i < n && j < m) {
      if (from[front + i] == to[front + j])
        all.push_back({' ', from[front + i++]}), ++j;
      else if (at(i + 1, j) >= at(i, j + 1))
        all.push_back({'-', from[front + i++]});
      else
        all.push_back({'+', to[front + j++]});
    }
  }
  for (; i < n; ++i) all.push_back({'-', from[front + i]});
  for (; j < m; ++j) all.push_back({'+', to[front + j]});
  for (std::size_t k = from.size() - back; k < from.size(); ++k) all.push_back({' ', from[k]});
  return all;
}

} // namespace

std::string difference(std::string_view from, std::string_view to) {
  if (from == to) return {};
  constexpr std::size_t around = 3;
  std::vector<change> const all = changes(lines_of(from), lines_of(to));
  std::vector<bool> shown(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].kind != ' ')
      for (std::size_t k = i - std::min(i, around); k < std::min(i + around + 1, all.size()); ++k)
        shown[k] = true;
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!shown[i]) {
      if (i == 0 || shown[i - 1]) out += "  ...\n";
      continue;
    }
    out += all[i].kind;
    out += ' ';
    out += all[i].line;
    out += '\n';
  }
  if (out.empty()) out = "  (the texts differ in the end of their last line)\n";
  return out;
}

} // namespace overdub::tools
