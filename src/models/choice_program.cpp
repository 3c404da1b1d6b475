#include <overdub/implementation/models/choice_lowering.hpp>
#include <overdub/models/choice_program.hpp>
#include <overdub/pass/pipeline.hpp>

namespace overdub::models {

ir::program choice_program_of(
    model_program const& m, choice_schema const& s,
    std::vector<std::vector<choice_callbacks>> const& callbacks) {
  ir::program p = m.program;
  detail::choice_lowering(p, m, s, callbacks).run();
  pass::default_pipeline(p);
  return p;
}

} // namespace overdub::models
