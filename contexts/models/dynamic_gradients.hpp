// Deprecated: include <overdub/models/dynamic_gradients.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/dynamic_gradients.hpp>
