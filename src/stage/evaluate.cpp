#include <overdub/implementation/stage/evaluation_in_library.hpp>

namespace overdub::detail {
OVERDUB_EVALUATE_IN_LIBRARY(stack<>)
OVERDUB_EVALUATE_IN_LIBRARY(symbols_alone)
} // namespace overdub::detail
