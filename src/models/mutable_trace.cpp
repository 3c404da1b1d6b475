#include <overdub/models/mutable_trace.hpp>

namespace overdub::models {
template class mutable_trace<incremental_program>;
template class mutable_trace<reexecuted_program>;
} // namespace overdub::models
