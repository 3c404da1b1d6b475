// What headers declare, and a library or one unit of a program defines: derivatives of programs. It calls programs, staging and execution.
#pragma once

#include <overdub/implementation/only_once.hpp>

#include <overdub/contexts/forward_program.ipp>
#include <overdub/contexts/reverse/gradient_program.ipp>
#include <overdub/contexts/reverse/hessian_program.ipp>
#include <overdub/contexts/reverse/pullback_program.ipp>
#include <overdub/contexts/reverse/residuals.ipp>
#include <overdub/contexts/test_derivative/oracle.ipp>
