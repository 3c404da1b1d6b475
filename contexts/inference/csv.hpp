// Deprecated: include <overdub/inference/csv.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference/csv.hpp>
