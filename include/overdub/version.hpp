// The version of overdub.
#pragma once

#include <overdub/core/requirements.hpp>

#define OVERDUB_VERSION_MAJOR 0
#define OVERDUB_VERSION_MINOR 1
#define OVERDUB_VERSION_PATCH 0
