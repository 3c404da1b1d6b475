// Deprecated: include <overdub/batch.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/batch.hpp>
