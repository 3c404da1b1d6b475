// Deprecated: include <overdub/inference/variational.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/inference/variational.hpp>
