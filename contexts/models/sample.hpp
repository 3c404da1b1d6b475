// Deprecated: include <overdub/models/sample.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/models/sample.hpp>
