// Options of execution.
#pragma once

#include <overdub/array/array.hpp>

#include <cstddef>

namespace overdub {

/// How a program is executed; results do not depend on it.
struct execution_options {
  i64 lanes_from = 16;   // a map of fewer elements is not vectorised
  i64 longest_row = 512; // nor is a map over longer rows: its body may have maps that are vectorised
};

/// The memory for frames of nested calls, in bytes.
struct execution_limits {
  std::size_t frame_bytes = std::size_t{64} << 20;
};

} // namespace overdub
