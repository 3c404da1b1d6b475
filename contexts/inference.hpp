// Deprecated: include <overdub/inference.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference.hpp>
