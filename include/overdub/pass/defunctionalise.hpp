// defunctionalise: represents function values as data (Reynolds, Definitional interpreters for higher-order programming
// languages, 1972). A function value with several possible callees becomes a tag, and slots for its captures; an
// application becomes a call of a function that branches on the tag. Reabstractions are removed. Transformations of data,
// such as reverse differentiation, then need no rules for function values.
// Does nothing if the program has no entry. Requires a valid program. Preserves semantics. Erases unreachable functions. Keeps all
// function values, and adds a note with the reason, if
//   - the entry or a host function accepts or returns a function value,
//   - a closure captures closures of its own kind, to a depth without a bound,
//   - an element of an array of function values captures an array, or
//   - a function value with several possible callees captures a key or a host object.
// Idempotent. May increase the run time: captures are copied with the function value.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of operations that created, applied or reabstracted function values; 0 if there are none, or if they
/// are kept. O(operations + closures × (function values and copies of them)).
std::size_t defunctionalise(ir::program& p);

} // namespace overdub::pass
