// Deprecated: include <overdub/models.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models.hpp>
