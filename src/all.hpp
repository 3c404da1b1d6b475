// All sources of the library, for one unit of a program that does not link it.
#pragma once

#include <overdub/implementation/differentiation.hpp>
#include <overdub/implementation/execution.hpp>
#include <overdub/implementation/incremental.hpp>
#include <overdub/implementation/models.hpp>
#include <overdub/implementation/programs.hpp>
#include <overdub/implementation/staging.hpp>
