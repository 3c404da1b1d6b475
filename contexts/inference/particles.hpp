// Deprecated: include <overdub/inference/particles.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference/particles.hpp>
