// Deprecated: include <overdub/reverse.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/reverse.hpp>
