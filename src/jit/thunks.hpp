// Thunks: what is left of reabstractions when code is generated.
#pragma once

#include <overdub/ir/program.hpp>

#include <cstdint>
#include <optional>

namespace overdub::jit {

/// A program in which function values become ones of another type by closures of functions, which call them.
struct program_with_thunks {
  ir::program program;
  std::uint32_t thunks; // these functions, one for each pair of types
};

/// The program without `reabstract` in the functions that are reached from `entry`; nothing, where there is none. O(operations).
std::optional<program_with_thunks> with_thunks(ir::program const& p, ir::function_id entry);

} // namespace overdub::jit
