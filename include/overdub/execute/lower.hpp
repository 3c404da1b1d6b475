// lower: from a program to what the interpreter reads.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/library.hpp>

#include <memory>

namespace overdub {

/// How a program is executed; results do not depend on it.
struct execution_options {
  i64 lanes_from = 16;   // a map of fewer elements runs them one by one
  i64 longest_row = 512; // a map over rows of more numbers, too: its body may have maps that run in lanes
};

namespace execute {

/// Lowers a function and all that it calls. Throws host_error and not_executable. O(nodes × depth of regions).
OVERDUB_DECL std::shared_ptr<code const> lower(
    ir::program const& given, ir::function_id entry, host_registry const& hosts,
    execution_options const& options = {});

} // namespace execute
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/execute/lower.ipp>
#endif
