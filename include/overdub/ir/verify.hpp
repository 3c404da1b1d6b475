// The verifier: checks every invariant that executors and passes rely on. It reads any program value, however broken,
// without memory errors. docs/verifier.md lists the rules.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <vector>

namespace overdub::ir {

/// The errors of a program, at most 100, by function, in the order of operations; none if it is valid. Thread-safe if
/// nothing edits the program. O(the program's storage).
std::vector<diagnostic> faults_of(program const& p);

/// Throws verify_error, with all errors of faults_of, if a program is invalid.
void verify(program const& p);

} // namespace overdub::ir
