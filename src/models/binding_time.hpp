// Binding-time analysis (Jones, Gomard and Sestoft, Partial Evaluation and Automatic Program Generation, 1993): splits a program into a
// static part, which depends on arguments that stay the same between calls, and the dynamic rest. Of a log density, the logarithms of
// standard deviations that are data, and the gamma functions of observed counts are static.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <vector>

namespace overdub::models {

/// The parts of a program. `static_part` takes the static arguments, and returns values that `dynamic_part` uses; `dynamic_part` takes all
/// arguments, and these values after them.
struct binding_time_split {
  ir::program static_part, dynamic_part;
};

/// Splits the entry of a program. The static operations of a map become a map of their own, where they cost more than to read their results
/// from an array. The program has no side effects but failures; the static part may throw what the program would throw. O(operations).
binding_time_split split_by_binding_time(ir::program p, std::vector<bool> const& static_parameters);

} // namespace overdub::models
