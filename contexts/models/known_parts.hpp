// What of a program depends on known arguments alone, and is computed once: the logarithms of standard deviations that are data, the
// gamma functions of counts that were observed.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <vector>

namespace overdub::models {

/// A program in two: `once` takes the known arguments; `each` takes all, and what `once` gave behind them.
struct parts_by_knowledge {
  ir::program once, each;
};

/// Splits the entry of a program by which of its parameters are known. Of maps, what is known of each turn becomes a map of its own, where
/// it is worth an array. The program has no effects but failures, which may be found by `once`. O(operations).
OVERDUB_DECL parts_by_knowledge split_known(ir::program p, std::vector<bool> const& known);

} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/known_parts.ipp>
#endif
