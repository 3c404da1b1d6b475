// share: the width of a block of a report.
#pragma once

#include <overdub/core/requirements.hpp>

namespace overdub::report {

/// The fraction of the page's width that a figure has.
enum class share { quarter, half, whole };

} // namespace overdub::report
