#include <overdub/compile/options.hpp>

#include <cstddef>
#include <string>

namespace overdub {

// For example "hot 7:jit -O2 exact by 1" and the key of a step. The length of the executor's name delimits it, so that no two options have
// one key.
std::string compile_options::key() const {
  std::string text = "interpreter";
  if (executor != nullptr && tiers != tiers::interpret_only)
    text.assign(tiers == tiers::compile_now ? "now " : "hot ")
        .append(std::to_string(executor->name().size()))
        .append(":")
        .append(executor->name());
  text.append(" ").append(ir::math_mode_names[static_cast<std::size_t>(math)]);
  if (has_default_passes()) return text;
  text.append(" by ").append(std::to_string(passes.size()));
  for (pass::pipeline_step const& step : passes) text.append(step.key());
  return text;
}

} // namespace overdub
