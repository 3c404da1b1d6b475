// The direct way: functions, values, contexts and the dispatcher. Includes only.
#pragma once

#include <overdub/version.hpp>
