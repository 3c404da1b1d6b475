// The difference of two texts, line by line.
#pragma once

#include <string>
#include <string_view>

namespace overdub::tools {

/// The lines that must go, behind -, and those that must come, behind +, with up to three lines around them; nothing when
/// the texts are equal. O(lines of one × lines of the other that differ).
std::string difference(std::string_view from, std::string_view to);

} // namespace overdub::tools
