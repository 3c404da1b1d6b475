// Deprecated: include <overdub/models/resimulation.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/resimulation.hpp>
