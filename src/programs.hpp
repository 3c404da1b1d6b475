// Non-inline definitions, for the compiled library or for one translation unit of a header-only program:
// programs, their text, the verifier, passes, and random numbers.
#pragma once

#ifndef OVERDUB_IMPLEMENTATION
#error "overdub: this header defines functions; define OVERDUB_IMPLEMENTATION in the one unit of the program that includes it"
#endif

// Local variables in these sources shadow functions of overdub, such as `at` and `sum`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <overdub/implementation/call/callee_name.cpp>
#include <overdub/implementation/core/library.cpp>
#include <overdub/implementation/execute/datum.cpp>
#include <overdub/implementation/ir/affine.cpp>
#include <overdub/implementation/ir/bounds.cpp>
#include <overdub/implementation/ir/builder.cpp>
#include <overdub/implementation/ir/callers.cpp>
#include <overdub/implementation/ir/calls.cpp>
#include <overdub/implementation/ir/cursor.cpp>
#include <overdub/implementation/ir/dependents.cpp>
#include <overdub/implementation/ir/effects.cpp>
#include <overdub/implementation/ir/enclosing.cpp>
#include <overdub/implementation/ir/equal.cpp>
#include <overdub/implementation/ir/function.cpp>
#include <overdub/implementation/ir/function_types.cpp>
#include <overdub/implementation/ir/in_place.cpp>
#include <overdub/implementation/ir/index_ranges.cpp>
#include <overdub/implementation/ir/infer.cpp>
#include <overdub/implementation/ir/last_uses.cpp>
#include <overdub/implementation/ir/parameter_ownership.cpp>
#include <overdub/implementation/ir/parse.cpp>
#include <overdub/implementation/ir/print.cpp>
#include <overdub/implementation/ir/program.cpp>
#include <overdub/implementation/ir/reference_counts.cpp>
#include <overdub/implementation/ir/regions.cpp>
#include <overdub/implementation/ir/rule_signature.cpp>
#include <overdub/implementation/ir/shapes.cpp>
#include <overdub/implementation/ir/split.cpp>
#include <overdub/implementation/ir/type_text.cpp>
#include <overdub/implementation/ir/verify.cpp>
#include <overdub/implementation/lifted/registry.cpp>
#include <overdub/implementation/pass/cancel_reabstractions.cpp>
#include <overdub/implementation/pass/canonicalise.cpp>
#include <overdub/implementation/pass/choose_functions.cpp>
#include <overdub/implementation/pass/cost.cpp>
#include <overdub/implementation/pass/cse.cpp>
#include <overdub/implementation/pass/dce.cpp>
#include <overdub/implementation/pass/dead_code.cpp>
#include <overdub/implementation/pass/defunctionalise.cpp>
#include <overdub/implementation/pass/fold.cpp>
#include <overdub/implementation/pass/forget_derivatives.cpp>
#include <overdub/implementation/pass/fuse.cpp>
#include <overdub/implementation/pass/hoist.cpp>
#include <overdub/implementation/pass/inline.cpp>
#include <overdub/implementation/pass/interchange.cpp>
#include <overdub/implementation/pass/pipeline.cpp>
#include <overdub/implementation/pass/pipeline_step.cpp>
#include <overdub/implementation/pass/raise_loops.cpp>
#include <overdub/implementation/pass/raise_plan.cpp>
#include <overdub/implementation/pass/raise_reabstractions.cpp>
#include <overdub/implementation/pass/reabstract_at_callers.cpp>
#include <overdub/implementation/pass/simplify.cpp>
#include <overdub/implementation/pass/specialise_conventions.cpp>
#include <overdub/implementation/random.cpp>
#include <overdub/implementation/special.cpp>

#pragma GCC diagnostic pop
