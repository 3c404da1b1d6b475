// Deprecated: include <overdub/inference/draws.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference/draws.hpp>
