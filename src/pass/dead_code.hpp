// Dead-code elimination of one function. In derived code, such as a backward pass, it may also erase operations that fail or have side
// effects, because the original code fails and has these side effects.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <cstdint>

namespace overdub::pass {

/// Which operations are erased if their results are unused.
enum class erasable : std::uint8_t {
  pure,          // operations without side effects that cannot fail
  what_may_fail, // also operations that may fail
  any            // all operations, except additions to accumulators whose sums are used
};

/// Returns the number of erased operations and results. `known` are the effects of the program. O(operations of the function);
/// recursive over the depth of regions.
std::size_t drop_dead_code(program& p, function_id f, effects const& known, erasable which);
/// The same, with the effects of the program as it is. O(operations of the program).
inline std::size_t drop_dead_code(program& p, function_id f, erasable which) {
  return drop_dead_code(p, f, effects(p), which);
}

} // namespace overdub::pass
