// Non-inline definitions, for the compiled library or for one translation unit of a header-only program:
// the interpreter, compile, and the context check. Uses programs and staging.
#pragma once

#ifndef OVERDUB_IMPLEMENTATION
#error "overdub: this header defines functions; define OVERDUB_IMPLEMENTATION in the one unit of the program that includes it"
#endif

// Local variables in these sources shadow functions of overdub, such as `at` and `sum`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <overdub/implementation/check.cpp>
#include <overdub/implementation/check/arrays.cpp>
#include <overdub/implementation/check/bounds.cpp>
#include <overdub/implementation/check/calls.cpp>
#include <overdub/implementation/check/control.cpp>
#include <overdub/implementation/check/elementary.cpp>
#include <overdub/implementation/check/finding.cpp>
#include <overdub/implementation/check/operations.cpp>
#include <overdub/implementation/check/real_operations.cpp>
#include <overdub/implementation/check/reals.cpp>
#include <overdub/implementation/check/report.cpp>
#include <overdub/implementation/check/values.cpp>
#include <overdub/implementation/compile/artifact.cpp>
#include <overdub/implementation/compile/cache.cpp>
#include <overdub/implementation/compile/fields_as_arguments.cpp>
#include <overdub/implementation/compile/global.cpp>
#include <overdub/implementation/compile/library.cpp>
#include <overdub/implementation/compile/options.cpp>
#include <overdub/implementation/compile/session_program.cpp>
#include <overdub/implementation/compile/tiered_program.cpp>
#include <overdub/implementation/compile/tiers.cpp>
#include <overdub/implementation/execute/array_words.cpp>
#include <overdub/implementation/execute/bound_call.cpp>
#include <overdub/implementation/execute/datum_text.cpp>
#include <overdub/implementation/execute/emitter.cpp>
#include <overdub/implementation/execute/frame_slots.cpp>
#include <overdub/implementation/execute/frame_stack.cpp>
#include <overdub/implementation/execute/interpreter.cpp>
#include <overdub/implementation/execute/lane_plan.cpp>
#include <overdub/implementation/execute/lane_values.cpp>
#include <overdub/implementation/execute/lane_yields.cpp>
#include <overdub/implementation/execute/lower.cpp>
#include <overdub/implementation/execute/lower_arrays.cpp>
#include <overdub/implementation/execute/lower_blocks.cpp>
#include <overdub/implementation/execute/lower_calls.cpp>
#include <overdub/implementation/execute/lower_control.cpp>
#include <overdub/implementation/execute/lower_lane_arrays.cpp>
#include <overdub/implementation/execute/lower_lane_control.cpp>
#include <overdub/implementation/execute/lower_lane_elementwise.cpp>
#include <overdub/implementation/execute/lower_lane_maps.cpp>
#include <overdub/implementation/execute/lower_lanes.cpp>
#include <overdub/implementation/execute/lower_operations.cpp>
#include <overdub/implementation/execute/lower_reductions.cpp>
#include <overdub/implementation/execute/lower_scalars.cpp>
#include <overdub/implementation/execute/lowering.cpp>
#include <overdub/implementation/execute/machine.cpp>
#include <overdub/implementation/execute/native_host.cpp>
#include <overdub/implementation/execute/run.cpp>
#include <overdub/implementation/execute/values.cpp>
#include <overdub/implementation/execute/yields.cpp>

#pragma GCC diagnostic pop
