// The sources of programs, their execution and their derivatives, for one unit of a program that does not link the library.
#pragma once

#include <overdub/implementation/differentiation.hpp>
#include <overdub/implementation/execution.hpp>
#include <overdub/implementation/programs.hpp>
#include <overdub/implementation/staging.hpp>
