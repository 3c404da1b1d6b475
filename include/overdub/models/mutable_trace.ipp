#pragma once

#include <overdub/models/mutable_trace.hpp>

#if !OVERDUB_HEADER_ONLY
namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {
template class mutable_trace<incremental_program>;
template class mutable_trace<reexecuted_program>;
} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
#endif
