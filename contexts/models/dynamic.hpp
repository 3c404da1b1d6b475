// Deprecated: include <overdub/models/dynamic.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/dynamic.hpp>
