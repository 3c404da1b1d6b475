// Deprecated: include <overdub/report.hpp>.
#pragma once

#include <overdub/contexts/old_names.hpp>
#include <overdub/report.hpp>
