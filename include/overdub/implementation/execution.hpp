// What headers declare, and a library or one unit of a program defines: the interpreter, compile, and the contexts check and batch. It calls programs and staging.
#pragma once

#include <overdub/implementation/only_once.hpp>

#include <overdub/compile/artifact.ipp>
#include <overdub/compile/cache.ipp>
#include <overdub/compile/fields_as_arguments.ipp>
#include <overdub/compile/followed_program.ipp>
#include <overdub/compile/global.ipp>
#include <overdub/compile/library.ipp>
#include <overdub/compile/options.ipp>
#include <overdub/compile/tiered_program.ipp>
#include <overdub/compile/tiers.ipp>
#include <overdub/batch/interchange.ipp>
#include <overdub/check.ipp>
#include <overdub/execute/bound_call.ipp>
#include <overdub/execute/datum_text.ipp>
#include <overdub/execute/interpreter.ipp>
#include <overdub/execute/lower.ipp>
#include <overdub/execute/machine.ipp>
#include <overdub/execute/run.ipp>
#include <overdub/execute/values.ipp>
