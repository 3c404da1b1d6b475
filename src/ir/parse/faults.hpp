// Syntax errors of a text, collected while it is read.
#pragma once

#include <overdub/implementation/ir/literal.hpp>
#include <overdub/ir/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::ir::detail {

/// Thrown by an operation that cannot be parsed; caught where parsing recovers.
struct syntax_fault {};
/// Thrown when the limit of errors is reached.
struct too_many_faults {};

/// Errors, by offsets into the text.
class text_faults {
public:
  static constexpr std::size_t most = 20;

  explicit text_faults(std::string_view text) : text_(text) {}

  void add(std::size_t at, std::string sentence) {
    auto const behind = std::upper_bound(
        found_.begin(), found_.end(), at, [](std::size_t x, fault const& f) { return x < f.at; });
    found_.insert(behind, {at, std::move(sentence)});
    if (found_.size() == most) throw too_many_faults();
  }
  bool empty() const { return found_.empty(); }

  /// O(text × faults).
  std::uint32_t line_of(std::size_t at) const {
    return 1 + static_cast<std::uint32_t>(std::count(text_.begin(), text_.begin() + offset(at), '\n'));
  }
  [[noreturn]] void report() {
    std::vector<diagnostic> all;
    for (fault& f : found_) {
      std::string_view const before = text_.substr(0, f.at);
      std::size_t const line_start = before.rfind('\n') + 1; // npos + 1 is 0
      all.push_back(
          {.text = std::move(f.sentence),
           .line = line_of(f.at),
           .column = static_cast<std::uint32_t>(f.at - line_start + 1)});
    }
    if (found_.size() == most) {
      diagnostic last = all.back();
      last.text =
          "there may be more errors: the first " + std::to_string(most) + " are reported; mend them first";
      all.push_back(std::move(last));
    }
    throw parse_error(std::move(all));
  }

private:
  static std::ptrdiff_t offset(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

  struct fault {
    std::size_t at;
    std::string sentence;
  };
  std::string_view text_;
  std::vector<fault> found_; // in text order
};

/// An excerpt of the text for an error message; long ones are shortened.
inline std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string out;
  append_quoted(out, text.substr(0, most));
  if (text.size() > most) out += "...";
  return out;
}

} // namespace overdub::ir::detail
