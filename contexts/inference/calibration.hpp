// Deprecated: include <overdub/inference/calibration.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference/calibration.hpp>
