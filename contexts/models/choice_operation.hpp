// The operation `sample` of a model's program: what the program calls the parts of its distribution, and the indices of its address.
#pragma once

#include <overdub/ir/function.hpp>

#include <string_view>
#include <vector>

namespace overdub::models {

/// What stands in front of a distribution's name in the names of its parts. Those of normal(mean, sd) are
///
///   @"log_density of normal"(x, mean, sd)    its log density
///   @"constrain normal"(y, mean, sd)         x of a number y without constraints, and the log of the Jacobian; for continuous ones
///   @"unconstrain normal"(x, mean, sd)       y
///   @"bounds of binomial"(trials, p)         the least and the greatest x, where these are finitely many integers, or truths
///   "draw normal(f64, f64)"                  a native function that draws x; its object is a random_generator
inline constexpr std::string_view density_prefix = "log_density of ", constrain_prefix = "constrain ",
                                  unconstrain_prefix = "unconstrain ", bounds_prefix = "bounds of ",
                                  draw_prefix = "draw ";

/// The indices of the maps and loops around a region, outermost first. O(how deep it stands).
inline std::vector<ir::value_id> indices_around(ir::function const& f, ir::region_id at) {
  std::vector<ir::value_id> all;
  for (; f[at].parent != ir::nothing; at = f[f[at].parent].parent)
    if (ir::op const around = f[f[at].parent].code; around == ir::op::map || around == ir::op::loop)
      all.insert(all.begin(), f.argument(at, 0));
  return all;
}

} // namespace overdub::models
