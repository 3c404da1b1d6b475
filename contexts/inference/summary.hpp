// Deprecated: include <overdub/inference/summary.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference/summary.hpp>
