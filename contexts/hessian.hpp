// Deprecated: include <overdub/hessian.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/hessian.hpp>
