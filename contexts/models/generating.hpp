// Deprecated: include <overdub/models/generating.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/generating.hpp>
