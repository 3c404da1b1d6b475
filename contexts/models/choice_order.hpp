// The order in which a run makes choices, as far as one of them may depend on another.
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

/// Knows the maps and loops around the sites of a model.
class choice_order {
public:
  explicit choice_order(model_core const& m) {
    for (site const& s : m.sites()) turns_.push_back(turns_of(m, s));
  }

  /// Whether a choice, by its site and its indices, is made before another one, which may depend on it: turns of maps do not. O(maps and
  /// loops around).
  bool
  is_before(std::uint32_t a, std::span<i64 const> at_a, std::uint32_t b, std::span<i64 const> at_b) const {
    auto const &of_a = turns_[a], &of_b = turns_[b];
    for (std::size_t k = 0; k < std::min(of_a.size(), of_b.size()) && of_a[k].node == of_b[k].node; ++k)
      if (of_a[k].is_loop && at_a[k] != at_b[k]) return (at_a[k] < at_b[k]) != of_a[k].is_reversed;
    return a < b;
  }

private:
  struct turn { // a map or a loop around a site
    ir::node_id node;
    bool is_loop, is_reversed;
  };
  static std::vector<turn> turns_of(model_core const& m, site const& s) {
    ir::function const& f = m.model().function();
    std::vector<turn> all;
    for (ir::region_id at = f[s.nodes[0]].parent; f[at].parent != ir::nothing; at = f[f[at].parent].parent)
      if (ir::node_id const n = f[at].parent; f[n].code != ir::op::if_)
        all.push_back({n, f[n].code == ir::op::loop, f[n].attributes.is_reversed()});
    std::ranges::reverse(all);
    return all;
  }

  std::vector<std::vector<turn>> turns_; // by site, outermost first
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
