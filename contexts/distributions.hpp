// Deprecated: include <overdub/distributions.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/distributions.hpp>
