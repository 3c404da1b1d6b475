// What headers declare, and a library or one unit of a program defines: derivatives of programs. It calls programs, staging and execution.
#pragma once

#include <overdub/implementation/only_once.hpp>

#include <overdub/forward_program.ipp>
#include <overdub/reverse/gradient_program.ipp>
#include <overdub/reverse/hessian_program.ipp>
#include <overdub/reverse/pullback_program.ipp>
#include <overdub/reverse/residuals.ipp>
#include <overdub/test_derivative/oracle.ipp>
