#include <overdub/core/library.hpp>

namespace overdub::detail {
void OVERDUB_LIBRARY() noexcept {}
} // namespace overdub::detail
