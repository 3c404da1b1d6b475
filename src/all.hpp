// All sources of the library, for one unit of a program that does not link it.
#pragma once

#include <overdub/implementation/core.hpp>
#include <overdub/implementation/incremental.hpp>
#include <overdub/implementation/ppl.hpp>
