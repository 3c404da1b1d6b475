#include <overdub/ir/enclosing.hpp>
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
  for (auto const around : ir::enclosing_regions(f, s.nodes[0]))
    if (auto const& n = f[around.owner]; !ir::selects_region(n.code))
      all.push_back({around.owner, ir::is_counted_loop(n.code), n.attributes.is_reversed()});
  std::ranges::reverse(all);
  return all;
}

} // namespace overdub::models
