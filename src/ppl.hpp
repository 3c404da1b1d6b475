// The sources of probabilistic models and inference, for one unit of a program that does not link the library. They call those of core and
// incremental.
#pragma once

#include <overdub/implementation/models.hpp>
