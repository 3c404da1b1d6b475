// Non-inline definitions, for the compiled library or for one translation unit of a header-only program:
// probabilistic models, inference and reports. Uses all other groups.
#pragma once

#ifndef OVERDUB_IMPLEMENTATION
#error "overdub: this header defines functions; define OVERDUB_IMPLEMENTATION in the one unit of the program that includes it"
#endif

// Local variables in these sources shadow functions of overdub, such as `at` and `sum`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <overdub/implementation/inference/adaptation.cpp>
#include <overdub/implementation/inference/calibration.cpp>
#include <overdub/implementation/inference/chain_run.cpp>
#include <overdub/implementation/inference/chains.cpp>
#include <overdub/implementation/inference/csv.cpp>
#include <overdub/implementation/inference/diagnostics.cpp>
#include <overdub/implementation/inference/draws.cpp>
#include <overdub/implementation/inference/hmc.cpp>
#include <overdub/implementation/inference/metric.cpp>
#include <overdub/implementation/inference/on_threads.cpp>
#include <overdub/implementation/inference/particles.cpp>
#include <overdub/implementation/inference/progress.cpp>
#include <overdub/implementation/inference/run_chains.cpp>
#include <overdub/implementation/inference/streams.cpp>
#include <overdub/implementation/inference/summary.cpp>
#include <overdub/implementation/inference/target.cpp>
#include <overdub/implementation/inference/variational.cpp>
#include <overdub/implementation/models/binding_time.cpp>
#include <overdub/implementation/models/calibration.cpp>
#include <overdub/implementation/models/choice_order.cpp>
#include <overdub/implementation/models/choice_program.cpp>
#include <overdub/implementation/models/choice_transform.cpp>
#include <overdub/implementation/models/choices.cpp>
#include <overdub/implementation/models/choosing.cpp>
#include <overdub/implementation/models/conditional_density.cpp>
#include <overdub/implementation/models/enumeration.cpp>
#include <overdub/implementation/models/filter.cpp>
#include <overdub/implementation/models/generating.cpp>
#include <overdub/implementation/models/hamiltonian_move.cpp>
#include <overdub/implementation/models/initial_trace.cpp>
#include <overdub/implementation/models/mcmc.cpp>
#include <overdub/implementation/models/model_core.cpp>
#include <overdub/implementation/models/moves.cpp>
#include <overdub/implementation/models/mutable_trace.cpp>
#include <overdub/implementation/models/numbers.cpp>
#include <overdub/implementation/models/observed_choices.cpp>
#include <overdub/implementation/models/operations.cpp>
#include <overdub/implementation/models/posterior.cpp>
#include <overdub/implementation/models/reexecuted_program.cpp>
#include <overdub/implementation/models/resimulation.cpp>
#include <overdub/implementation/models/sample.cpp>
#include <overdub/implementation/models/site_constraints.cpp>
#include <overdub/implementation/models/site_program.cpp>
#include <overdub/implementation/models/sites.cpp>
#include <overdub/implementation/models/trace.cpp>
#include <overdub/implementation/models/trace_growth.cpp>
#include <overdub/implementation/models/trace_structure.cpp>
#include <overdub/implementation/models/trip_count_program.cpp>
#include <overdub/implementation/models/typed_choice.cpp>
#include <overdub/implementation/report/bars.cpp>
#include <overdub/implementation/report/diagnostics.cpp>
#include <overdub/implementation/report/document.cpp>
#include <overdub/implementation/report/figure.cpp>
#include <overdub/implementation/report/graph.cpp>
#include <overdub/implementation/report/graphviz.cpp>
#include <overdub/implementation/report/histogram.cpp>
#include <overdub/implementation/report/intervals.cpp>
#include <overdub/implementation/report/listing.cpp>
#include <overdub/implementation/report/plot.cpp>
#include <overdub/implementation/report/posterior.cpp>
#include <overdub/implementation/report/scale.cpp>
#include <overdub/implementation/report/table.cpp>
#include <overdub/implementation/report/text.cpp>
#include <overdub/implementation/report/trace.cpp>

#pragma GCC diagnostic pop
