// Deprecated: include <overdub/models/calibration.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/calibration.hpp>
