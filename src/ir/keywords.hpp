// Keywords that the printer writes and the parser reads, besides the names of operations.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/ir/op.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace overdub::ir::detail {

OVERDUB_HIDDEN inline constexpr std::array<std::string_view, 6> effect_names{
    "pure", "may_fail", "reads_context", "addressed", "accumulates", "ordered"};

// The maximum depth of indentation.
inline constexpr std::uint32_t maximum_indentation = 100;

// The keyword before the second region of an operation.
constexpr std::string_view second_region_word(op code) {
  return code == op::if_ ? "else" : code == op::while_ ? "do" : "failed";
}

} // namespace overdub::ir::detail
