// The operation `sample` of a model's program: the names of the functions of its distribution, and the indices of its address.
#pragma once

#include <overdub/ir/regions.hpp>

#include <string_view>
#include <vector>

namespace overdub::models {

/// The prefixes of the names of a distribution's functions. Those of normal(mean, sd) are
///
///   @"log_density of normal"(x, mean, sd)    its log density
///   @"constrain normal"(y, mean, sd)         x of an unconstrained y, and log |det dx/dy|; of continuous ones
///   @"unconstrain normal"(x, mean, sd)       y
///   @"bounds of binomial"(trials, p)         the minimum and the maximum x, of finitely many integers, or bools
///   "draw normal(f64, f64)"                  a host function that draws x; its object is a random_generator
inline constexpr std::string_view density_prefix = "log_density of ", constrain_prefix = "constrain ",
                                  unconstrain_prefix = "unconstrain ", bounds_prefix = "bounds of ",
                                  draw_prefix = "draw ";

/// The indices of the maps and loops that enclose a region, outermost first. O(depth of the region).
inline std::vector<ir::value_id> enclosing_indices(ir::function const& f, ir::region_id at) {
  std::vector<ir::value_id> all;
  for (; f[at].parent != ir::nothing; at = f[f[at].parent].parent)
    if (ir::is_counted(f[f[at].parent].code))
      all.insert(all.begin(), ir::region_flow(f, f[at].parent).index());
  return all;
}

} // namespace overdub::models
