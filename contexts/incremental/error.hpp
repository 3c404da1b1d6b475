// What cannot be followed, or changed.
#pragma once

#include <overdub/call/error.hpp>

namespace overdub::contexts {

/// Says what a function does that no update can follow, or what an update asks for that is not there.
class incremental_error : public error {
public:
  using error::error;
};

} // namespace overdub::contexts
