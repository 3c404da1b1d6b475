// What headers declare, and a library or one unit of a program defines: probabilistic models and inference. It calls all of the others.
#pragma once

#include <overdub/implementation/only_once.hpp>

#include <overdub/contexts/inference/adaptation.ipp>
#include <overdub/contexts/inference/calibration.ipp>
#include <overdub/contexts/inference/chain_run.ipp>
#include <overdub/contexts/inference/csv.ipp>
#include <overdub/contexts/inference/diagnostics.ipp>
#include <overdub/contexts/inference/draws.ipp>
#include <overdub/contexts/inference/particles.ipp>
#include <overdub/contexts/inference/progress.ipp>
#include <overdub/contexts/inference/summary.ipp>
#include <overdub/contexts/models/changing_trace.ipp>
#include <overdub/contexts/models/choice_program.ipp>
#include <overdub/contexts/models/choices.ipp>
#include <overdub/contexts/models/choosing.ipp>
#include <overdub/contexts/models/conditional_density.ipp>
#include <overdub/contexts/models/enumeration.ipp>
#include <overdub/contexts/models/generating.ipp>
#include <overdub/contexts/models/known_parts.ipp>
#include <overdub/contexts/models/model_core.ipp>
#include <overdub/contexts/models/numbers.ipp>
#include <overdub/contexts/models/observed_choices.ipp>
#include <overdub/contexts/models/operations.ipp>
#include <overdub/contexts/models/posterior.ipp>
#include <overdub/contexts/models/reexecuted_program.ipp>
#include <overdub/contexts/models/sample.ipp>
#include <overdub/contexts/models/site_constraints.ipp>
#include <overdub/contexts/models/site_program.ipp>
#include <overdub/contexts/models/sites.ipp>
#include <overdub/contexts/models/trace.ipp>
#include <overdub/contexts/models/trace_growth.ipp>
#include <overdub/contexts/models/trace_structure.ipp>
#include <overdub/contexts/models/turns_program.ipp>
#include <overdub/contexts/models/typed_choice.ipp>
