// lower: from a program to instructions for the interpreter.
#pragma once

#include <overdub/execute/abi.hpp>
#include <overdub/execute/code.hpp>
#include <overdub/execute/options.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <memory>

namespace overdub::inline OVERDUB_EXECUTE_ABI::execute {

/// Lowers a function and its callees. Throws host_error and not_executable. O(nodes × depth of regions).
OVERDUB_DECL std::shared_ptr<code const> lower(
    ir::program const& given, ir::function_id entry, host_registry const& hosts,
    execution_options const& options = {});

} // namespace overdub::inline OVERDUB_EXECUTE_ABI::execute

#if OVERDUB_HEADER_ONLY
#include <overdub/execute/lower.ipp>
#endif
