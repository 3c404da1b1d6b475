// lower: from a program to instructions for the interpreter.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/code.hpp>
#include <overdub/execute/options.hpp>
#include <overdub/ir/program.hpp>

#include <memory>

namespace overdub::execute {

/// Lowers a function and its callees. Throws host_error and not_executable. O(nodes × depth of regions).
std::shared_ptr<code const> lower(
    ir::program const& given, ir::function_id entry, host_registry const& hosts,
    execution_options const& options = {});

} // namespace overdub::execute
