// Deprecated: include <overdub/distributions/bounded.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/distributions/bounded.hpp>
