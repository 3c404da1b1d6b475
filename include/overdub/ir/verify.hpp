// The verifier: whether a program keeps to every rule that executors and passes rely on. It reads any program value, however
// broken, without leaving its storage. docs/verifier.md lists the rules.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <vector>

namespace overdub::ir {

/// Everything that is wrong with a program, at most 100 things, function by function in the order of operations; nothing
/// when it is valid. Thread-safe on a program that nobody edits. O(the program's storage).
OVERDUB_DECL std::vector<diagnostic> faults_of(program const& p);

/// Throws verify_error, with everything that faults_of finds, when a program is not valid.
OVERDUB_DECL void verify(program const& p);

} // namespace overdub::ir

#if OVERDUB_HEADER_ONLY
#include <overdub/ir/verify.ipp>
#endif
