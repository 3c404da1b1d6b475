// A name as folded stacks have it: a semicolon separates names there, and a line is one stack.
#pragma once

#include <string>
#include <string_view>

namespace overdub::contexts {

/// The name with '_' for semicolons and control characters.
inline std::string folded_name(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c == ';' || static_cast<unsigned char>(c) < 0x20) c = '_';
  return text;
}

} // namespace overdub::contexts
