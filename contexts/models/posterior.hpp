// Deprecated: include <overdub/models/posterior.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/posterior.hpp>
