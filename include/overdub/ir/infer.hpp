// The rules for types: which results an operation has, given its operands. The builder, the parser and the verifier ask
// here and nowhere else.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <span>
#include <string>
#include <vector>

namespace overdub::ir {

/// The types of the results of an operation on operands of these types; of one with regions, those that do not follow from
/// the regions. Where the operation does not decide them (convert, host, sample, closure, reabstract, an empty array), `results` holds
/// those wanted. False when the types do not fit, and `why` says so. O(operands).
OVERDUB_DECL bool infer(
    program const& p, op code, std::span<type const> operands, attributes const& says,
    std::vector<type>& results, std::string& why);

/// The same of operands in a function; throws verify_error when they do not fit.
OVERDUB_DECL std::vector<type> infer(
    program const& p, function const& f, op code, std::span<value_id const> operands, attributes const& says);

} // namespace overdub::ir

#if OVERDUB_HEADER_ONLY
#include <overdub/ir/infer.ipp>
#endif
