// The partial order of a model's choices: a choice may depend on those before it.
#pragma once

#include <overdub/contexts/models/model_core.hpp>
#include <overdub/ir/function.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// The order of the choices of a model; the same for all of its arguments.
class choice_order {
public:
  explicit choice_order(model_core const& m) {
    for (site const& s : m.sites()) loops_.push_back(enclosing_loops_of(m, s));
  }

  /// Whether the choice of site a with the indices at_a is made before that of site b with at_b, which may depend on it. Iterations of a
  /// map do not depend on each other. O(depth).
  bool
  is_before(std::uint32_t a, std::span<i64 const> at_a, std::uint32_t b, std::span<i64 const> at_b) const {
    auto const &of_a = loops_[a], &of_b = loops_[b];
    for (std::size_t k = 0; k < std::min(of_a.size(), of_b.size()) && of_a[k].node == of_b[k].node; ++k)
      if (of_a[k].is_loop && at_a[k] != at_b[k]) return (at_a[k] < at_b[k]) != of_a[k].is_reversed;
    return a < b;
  }

private:
  struct enclosing_loop { // a map or a loop that encloses a site
    ir::node_id node;
    bool is_loop, is_reversed;
  };
  static std::vector<enclosing_loop> enclosing_loops_of(model_core const& m, site const& s) {
    ir::function const& f = m.model().function();
    std::vector<enclosing_loop> all;
    for (ir::region_id at = f[s.nodes[0]].parent; f[at].parent != ir::nothing; at = f[f[at].parent].parent)
      if (ir::node_id const n = f[at].parent; f[n].code != ir::op::if_)
        all.push_back({n, f[n].code == ir::op::loop, f[n].attributes.is_reversed()});
    std::ranges::reverse(all);
    return all;
  }

  std::vector<std::vector<enclosing_loop>> loops_; // by site, outermost first
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
