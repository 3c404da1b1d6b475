// Deprecated: include <overdub/models/choices.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/choices.hpp>
