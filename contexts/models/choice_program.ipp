#pragma once

#include <overdub/contexts/models/choice_program.hpp>
#include <overdub/contexts/models/choice_writer.hpp>
#include <overdub/pass/pipeline.hpp>

namespace overdub::models {

OVERDUB_DECL ir::program choice_program_of(
    model_program const& m, choice_schema const& s, std::vector<std::vector<choice_source>> const& sources) {
  ir::program p = m.program;
  detail::choice_writer(p, m, s, sources).run();
  pass::default_pipeline(p);
  return p;
}

} // namespace overdub::models
