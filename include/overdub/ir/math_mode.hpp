// What "equal" means for the floating-point operations of a program.
#pragma once

#include <overdub/call/config.hpp>
#include <overdub/core/requirements.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace overdub::ir {

/// How far results of floating-point operations are fixed. A property of a program (program::math).
enum class math_mode : std::uint8_t {
  exact, // each operation is one of IEEE 754, and elementary functions are the host's libm: the same bits as plain C++
  consistent, // as exact, with elementary functions that give the same bits alone and in vectors of any width: SLEEF's
  fast // machine code may contract, reassociate, and use the vector libm; other executors run it as exact
};

/// The words of the modes in a program's text.
OVERDUB_HIDDEN inline constexpr std::array<std::string_view, 3> math_mode_names{
    "exact", "consistent", "fast"};

} // namespace overdub::ir
