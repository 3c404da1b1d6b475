#include <overdub/compile/options.hpp>

#include <cstddef>
#include <string>

namespace overdub {

std::string compile_options::key() const {
  std::string by = "interpreter";
  if (executor != nullptr && tiers != tiers::interpret_only)
    by = (tiers == tiers::compile_now ? "now " : "hot ") + executor->name();
  by.append(" ").append(ir::math_mode_names[static_cast<std::size_t>(math)]);
  if (has_default_passes()) return by;
  by.append(" by ").append(std::to_string(passes.size()));
  for (pass::pipeline_step const& step : passes) by.append(step.key());
  return by;
}

} // namespace overdub
