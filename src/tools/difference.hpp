// A line-by-line difference of two texts.
#pragma once

#include <string>
#include <string_view>

namespace overdub::tools {

/// A unified difference: removed lines after -, added lines after +, with up to three lines of context; empty if the texts
/// are equal. O(lines of one × lines of the other that differ).
std::string difference(std::string_view from, std::string_view to);

} // namespace overdub::tools
