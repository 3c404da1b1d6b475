// The floating-point semantics of a program.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/core/requirements.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace overdub::ir {

/// Which results of floating-point operations are specified to the bit. A property of a program (program::math).
enum class math_mode : std::uint8_t {
  exact,      // operations of IEEE 754, elementary functions of the host's libm: the same bits as plain C++
  consistent, // as exact, with SLEEF's elementary functions, which give the same bits in scalars and in vectors of any width
  fast // machine code may contract, reassociate, and use the vector libm; other executors run it as exact
};

/// The keywords of the modes in a program's text.
OVERDUB_HIDDEN inline constexpr std::array<std::string_view, 3> math_mode_names{
    "exact", "consistent", "fast"};

} // namespace overdub::ir
