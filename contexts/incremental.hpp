// Deprecated: include <overdub/incremental.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/incremental.hpp>
