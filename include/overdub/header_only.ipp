#pragma once

#include <overdub/header_only.hpp>

#if !OVERDUB_HEADER_ONLY
namespace overdub::detail {
void OVERDUB_LIBRARY_LAYOUT() noexcept {}
} // namespace overdub::detail
#endif
