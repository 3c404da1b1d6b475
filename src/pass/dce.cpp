#include <overdub/implementation/pass/dead_code.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/pass/dce.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::pass {

std::size_t drop_unreached_functions(program& p) {
  if (p.entry == nothing) return 0;
  std::vector<bool> reached(p.functions.size());
  for (function_id const f : ir::reachable_functions(p, p.entry, ir::with_derivatives::yes))
    reached[index_of(f)] = true;
  std::size_t dropped = 0;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (!reached[i] && !p.is_erased(function_id{i})) {
      p.erase(function_id{i});
      ++dropped;
    }
  return dropped;
}

std::size_t dce(program& p) {
  std::size_t dropped = drop_unreached_functions(p); // first, since they need no analysis
  effects const known(p);
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (!p.is_erased(function_id{i})) dropped += drop_dead_code(p, function_id{i}, known, erasable::pure);
  return dropped + drop_unreached_functions(p);
}

} // namespace overdub::pass
