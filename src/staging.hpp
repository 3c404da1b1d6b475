// Non-inline definitions, for the compiled library or for one translation unit of a header-only program:
// the staging of C++ functions, and the rewriting of programs in contexts. Uses programs.
#pragma once

#ifndef OVERDUB_IMPLEMENTATION
#error "overdub: this header defines functions; define OVERDUB_IMPLEMENTATION in the one unit of the program that includes it"
#endif

// Local variables in these sources shadow functions of overdub, such as `at` and `sum`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <overdub/implementation/stage/evaluate.cpp>
#include <overdub/implementation/stage/evaluate_data.cpp>
#include <overdub/implementation/stage/evaluation/copy.cpp>
#include <overdub/implementation/stage/evaluation/staged_functions.cpp>
#include <overdub/implementation/stage/program_native.cpp>
#include <overdub/implementation/stage/program_observer.cpp>
#include <overdub/implementation/stage/program_set.cpp>
#include <overdub/implementation/stage/program_signatures.cpp>
#include <overdub/implementation/stage/recorder.cpp>
#include <overdub/implementation/stage/stage.cpp>
#include <overdub/implementation/stage/staged_hooks.cpp>
#include <overdub/implementation/stage/transform.cpp>

#pragma GCC diagnostic pop
