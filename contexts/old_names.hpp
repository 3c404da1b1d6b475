// The deprecated names of functions and types that are not contexts: `overdub::contexts::gradient` is `overdub::gradient`. The deprecated
// headers, such as <overdub/contexts/reverse.hpp>, include this header. They are removed after version 0.1.
#pragma once

#include <overdub/core/requirements.hpp>

namespace overdub {}
namespace overdub::contexts {
using namespace overdub;
} // namespace overdub::contexts
