// Deprecated: include <overdub/check.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/check.hpp>
