// Deprecated: include <overdub/models/model.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/model.hpp>
