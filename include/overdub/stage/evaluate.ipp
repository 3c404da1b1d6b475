#pragma once

#include <overdub/stage/evaluation_in_library.hpp>

#if !OVERDUB_HEADER_ONLY
namespace overdub::detail {
OVERDUB_EVALUATE_IN_LIBRARY(stack<>)
OVERDUB_EVALUATE_IN_LIBRARY(symbols_alone)
} // namespace overdub::detail
#endif
