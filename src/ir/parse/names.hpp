// The names of values while a function is parsed: %x and %12.
#pragma once

#include <overdub/implementation/ir/literal.hpp>
#include <overdub/ir/id.hpp>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <tsl/robin_map.h>
#include <vector>

namespace overdub::ir::detail {

/// The binding of a name; a stamp distinguishes functions.
struct name_binding {
  enum class state : std::uint8_t {
    unknown,
    open, // the regions of its operation are being parsed
    known,
    broken // an error was reported; suppresses further ones
  };
  std::string_view text; // in the source
  symbol name = nothing; // nothing: a number, or not used yet
  value_id value = nothing;
  region_id region = nothing; // the region of the definition
  std::uint32_t depth = 0;
  std::uint32_t where = 0; // the offset of the definition
  std::uint32_t stamp = 0; // of the function
  state is = state::unknown;
};

/// Finds bindings by text. O(1); nothing is cleared between functions.
class value_names {
public:
  explicit value_names(std::string_view text) : dense_(static_cast<std::uint32_t>(text.size() / 2)) {}

  void begin_function() { ++stamp_; }

  /// The binding of a name in the current function.
  std::uint32_t find(std::string_view text) {
    std::uint32_t const i = index_of(text);
    name_binding& b = all_[i];
    if (b.stamp != stamp_) {
      b.stamp = stamp_;
      b.is = name_binding::state::unknown;
    }
    return i;
  }
  name_binding& operator[](std::uint32_t i) { return all_[i]; }

private:
  std::uint32_t index_of(std::string_view text) {
    if (std::uint32_t number = 0; is_a(text[0], is_digit) && is_dense(text, number)) {
      if (number >= of_number_.size()) of_number_.resize(number + std::size_t{1}, none);
      std::uint32_t& i = of_number_[number];
      if (i == none) i = add(text);
      return i;
    }
    auto const [at, added] = of_text_.try_emplace(text, static_cast<std::uint32_t>(all_.size()));
    if (added) add(text);
    return at->second;
  }
  // A function of n characters has fewer than n / 2 values: larger numbers are looked up as texts.
  bool is_dense(std::string_view text, std::uint32_t& number) const {
    if (text.size() > 9 || (text.size() > 1 && text[0] == '0')) return false;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number < dense_;
  }
  std::uint32_t add(std::string_view text) {
    all_.push_back({.text = text});
    return static_cast<std::uint32_t>(all_.size() - 1);
  }

  static constexpr std::uint32_t none = ~0u;
  std::uint32_t dense_;
  std::uint32_t stamp_ = 0;
  std::vector<name_binding> all_;
  std::vector<std::uint32_t> of_number_;
  tsl::robin_map<std::string_view, std::uint32_t> of_text_;
};

} // namespace overdub::ir::detail
