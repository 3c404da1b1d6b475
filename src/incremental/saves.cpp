#include <overdub/implementation/incremental/saves.hpp>
#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>
#include <optional>

namespace overdub::increments {

std::optional<std::uint32_t> enclosing_depth(ir::function const& f, ir::value_id v) {
  std::uint32_t depth = 0;
  for (auto const around : ir::enclosing_regions(f, f.region_of(v))) {
    if (selects_region(f[around.owner].code) && is_outside_loops(f, around.region)) return depth;
    if (!is_counted(f[around.owner].code)) return {};
    ++depth;
  }
  return depth;
}

} // namespace overdub::increments
