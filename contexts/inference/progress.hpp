// Deprecated: include <overdub/inference/progress.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference/progress.hpp>
