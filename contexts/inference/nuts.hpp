// Deprecated: include <overdub/inference/nuts.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference/nuts.hpp>
