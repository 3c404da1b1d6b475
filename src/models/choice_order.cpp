#include <overdub/ir/regions.hpp>
#include <overdub/models/choice_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::models {

choice_order::choice_order(model_core const& m) {
  for (site const& s : m.sites()) loops_.push_back(enclosing_loops_of(m, s));
}

bool choice_order::is_before(
    std::uint32_t a, std::span<i64 const> at_a, std::uint32_t b, std::span<i64 const> at_b) const {
  auto const &of_a = loops_[a], &of_b = loops_[b];
  for (std::size_t k = 0; k < std::min(of_a.size(), of_b.size()) && of_a[k].node == of_b[k].node; ++k)
    if (of_a[k].is_loop && at_a[k] != at_b[k]) return (at_a[k] < at_b[k]) != of_a[k].is_reversed;
  return a < b;
}

std::vector<choice_order::enclosing_loop>
choice_order::enclosing_loops_of(model_core const& m, site const& s) {
  ir::function const& f = m.model().function();
  std::vector<enclosing_loop> all;
  for (ir::region_id at = f[s.nodes[0]].parent; f[at].parent != ir::nothing; at = f[f[at].parent].parent)
    if (ir::node_id const n = f[at].parent; !ir::selects_region(f[n].code))
      all.push_back({n, ir::is_counted_loop(f[n].code), f[n].attributes.is_reversed()});
  std::ranges::reverse(all);
  return all;
}

} // namespace overdub::models
