#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>

#include <algorithm>

namespace overdub::ir {

std::vector<value_id> enclosing_indices(function const& f, region_id inside) {
  std::vector<value_id> indices;
  for (auto const& [region, owner] : enclosing_regions(f, inside))
    if (is_counted(f[owner].code)) indices.push_back(region_flow(f, owner).index());
  std::ranges::reverse(indices);
  return indices;
}

} // namespace overdub::ir
