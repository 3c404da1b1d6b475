// Dead-code elimination of one function. It may erase more than the pass dce does: in derived code, whose original fails and has side
// effects in its place.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <cstdint>

namespace overdub::pass {

/// Which operations are erased if their results are unused.
enum class erasable : std::uint8_t {
  pure,          // those that do nothing else
  what_may_fail, // also those that may fail
  any            // all, except those that add to accumulators whose sums are used
};

/// Returns the number of erased operations and results. `known` are the effects of the program. O(operations of the function);
/// recursive over the depth of regions.
std::size_t drop_dead_code(program& p, function_id f, effects const& known, erasable which);
/// The same, with the effects of the program as it is. O(operations of the program).
inline std::size_t drop_dead_code(program& p, function_id f, erasable which) {
  return drop_dead_code(p, f, effects(p), which);
}

} // namespace overdub::pass
