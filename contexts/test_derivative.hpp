// Deprecated: include <overdub/test_derivative.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/test_derivative.hpp>
