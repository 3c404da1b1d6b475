// Type inference: the results of an operation, given its operands. The builder, the parser and the verifier share it.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <span>
#include <string>
#include <vector>

namespace overdub::ir {

/// The result types of an operation on operands of these types, except those that its regions determine. If the operation
/// does not determine them (convert, host, sample, closure, reabstract, an empty array), `results` holds the requested
/// types. Returns false for wrong types, with the reason in `why`. O(operands).
bool infer(
    program const& p, op code, std::span<type const> operands, attributes const& says,
    std::vector<type>& results, std::string& why);

/// For operands in a function; throws verify_error for wrong types.
std::vector<type> infer(
    program const& p, function const& f, op code, std::span<value_id const> operands, attributes const& says);

} // namespace overdub::ir
