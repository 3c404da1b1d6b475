// Deprecated: include <overdub/models/mcmc.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/mcmc.hpp>
