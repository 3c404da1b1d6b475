// Non-inline definitions, for the compiled library or for one translation unit of a header-only program:
// forward and reverse mode of programs, and tests of derivatives against finite differences. Uses programs, staging and execution.
#pragma once

#ifndef OVERDUB_IMPLEMENTATION
#error "overdub: this header defines functions; define OVERDUB_IMPLEMENTATION in the one unit of the program that includes it"
#endif

// Local variables in these sources shadow functions of overdub, such as `at` and `sum`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <overdub/implementation/forward_program.cpp>
#include <overdub/implementation/reverse/activity.cpp>
#include <overdub/implementation/reverse/array_restorer.cpp>
#include <overdub/implementation/reverse/branch_partials.cpp>
#include <overdub/implementation/reverse/captures.cpp>
#include <overdub/implementation/reverse/checkpointer.cpp>
#include <overdub/implementation/reverse/data_adjoints.cpp>
#include <overdub/implementation/reverse/emitter.cpp>
#include <overdub/implementation/reverse/gradient_program.cpp>
#include <overdub/implementation/reverse/hessian_program.cpp>
#include <overdub/implementation/reverse/prepare.cpp>
#include <overdub/implementation/reverse/pullback_program.cpp>
#include <overdub/implementation/reverse/reduction_adjoints.cpp>
#include <overdub/implementation/reverse/residual_problem.cpp>
#include <overdub/implementation/reverse/residual_saver.cpp>
#include <overdub/implementation/reverse/residuals.cpp>
#include <overdub/implementation/reverse/writer.cpp>
#include <overdub/implementation/test_derivative/oracle.cpp>
#include <overdub/implementation/test_derivative/report.cpp>

#pragma GCC diagnostic pop
