// What a user may choose when programs are executed.
#pragma once

#include <overdub/array/array.hpp>

#include <cstddef>

namespace overdub {

/// How a program is executed; results do not depend on it.
struct execution_options {
  i64 lanes_from = 16;   // a map of fewer elements runs them one by one
  i64 longest_row = 512; // a map over rows of more numbers, too: its body may have maps that run in lanes
};

/// How much memory the frames of nested calls may take, in bytes.
struct execution_limits {
  std::size_t frame_bytes = std::size_t{64} << 20;
};

} // namespace overdub
