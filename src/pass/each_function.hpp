// Passes over single functions.
#pragma once

#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>

namespace overdub::pass::detail {

/// Runs a pass, Pass(program, function).run(), on each function. Returns the sum of the results.
template <class Pass>
std::size_t run_on_each_function(ir::program& p) {
  std::size_t changes = 0;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (!p.is_erased(ir::function_id{i})) changes += Pass(p, ir::function_id{i}).run();
  return changes;
}

/// Runs a pass, Pass(program, function, known...), on each function, until it is not to run `again`. Returns the sum of the results.
template <class Pass, class... Known>
std::size_t run_until_stable(ir::program& p, Known const&... known) {
  std::size_t changes = 0;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    for (bool again = !p.is_erased(ir::function_id{i}); again;) {
      Pass one(p, ir::function_id{i}, known...);
      changes += one.run();
      again = one.again();
    }
  return changes;
}

} // namespace overdub::pass::detail
