// Names in folded stacks, where a semicolon separates names, and a line is one stack.
#pragma once

#include <overdub/call/utf8.hpp>
#include <overdub/core/requirements.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace overdub::contexts {

/// The name as UTF-8, with '_' for semicolons and control characters.
inline std::string folded_name(std::string_view name) {
  std::string text;
  overdub::detail::for_each_character(name, [&](std::uint32_t point, std::string_view bytes) {
    if (point == ';' || point < 0x20)
      text += '_';
    else
      text += bytes;
  });
  return text;
}

} // namespace overdub::contexts
