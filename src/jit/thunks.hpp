// Thunks: the lowering of reabstractions.
#pragma once

#include <overdub/ir/program.hpp>

#include <cstdint>
#include <optional>

namespace overdub::jit {

/// A program without reabstractions: closures of thunks, which call the original functions.
struct program_with_thunks {
  ir::program program;
  std::uint32_t thunks; // the number of thunks, one for each pair of types
};

/// The program without `reabstract` in the functions reachable from `entry`; nothing if there is none. O(operations).
std::optional<program_with_thunks> with_thunks(ir::program const& p, ir::function_id entry);

} // namespace overdub::jit
