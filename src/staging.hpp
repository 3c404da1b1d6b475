// What headers declare, and a library or one unit of a program defines: programs of C++, and programs in contexts. It calls programs.
#pragma once

#ifndef OVERDUB_IMPLEMENTATION
#error "overdub: this header defines functions; define OVERDUB_IMPLEMENTATION in the one unit of the program that includes it"
#endif

// Variables in sources have names of functions of overdub, such as `at` and `sum`, where they do not call these.
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
