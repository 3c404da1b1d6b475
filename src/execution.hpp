// What headers declare, and a library or one unit of a program defines: the interpreter, compile, and the context check. It calls programs and staging.
#pragma once

// Variables in sources have names of functions of overdub, such as `at` and `sum`, where they do not call these.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <overdub/implementation/check.cpp>
#include <overdub/implementation/compile/artifact.cpp>
#include <overdub/implementation/compile/cache.cpp>
#include <overdub/implementation/compile/fields_as_arguments.cpp>
#include <overdub/implementation/compile/global.cpp>
#include <overdub/implementation/compile/library.cpp>
#include <overdub/implementation/compile/options.cpp>
#include <overdub/implementation/compile/session_program.cpp>
#include <overdub/implementation/compile/tiered_program.cpp>
#include <overdub/implementation/compile/tiers.cpp>
#include <overdub/implementation/execute/bound_call.cpp>
#include <overdub/implementation/execute/datum_text.cpp>
#include <overdub/implementation/execute/frame_stack.cpp>
#include <overdub/implementation/execute/interpreter.cpp>
#include <overdub/implementation/execute/lane_plan.cpp>
#include <overdub/implementation/execute/lower.cpp>
#include <overdub/implementation/execute/machine.cpp>
#include <overdub/implementation/execute/run.cpp>
#include <overdub/implementation/execute/values.cpp>

#pragma GCC diagnostic pop
