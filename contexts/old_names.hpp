// What stood in contexts/ and is no context: `overdub::contexts::gradient` is `overdub::gradient`, and <overdub/contexts/reverse.hpp> includes
// <overdub/reverse.hpp>. The old names and headers are deprecated, and are removed after version 0.1.
#pragma once

#include <overdub/core/requirements.hpp>

namespace overdub {}
namespace overdub::contexts {
using namespace overdub;
} // namespace overdub::contexts
