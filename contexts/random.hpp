// Deprecated: include <overdub/random.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/random.hpp>
