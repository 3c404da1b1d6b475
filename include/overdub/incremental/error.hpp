// The error of incremental recomputation.
#pragma once

#include <overdub/core/error.hpp>

namespace overdub {

/// A function cannot be updated incrementally, or an update is invalid. The message says why.
class incremental_error : public error {
public:
  using error::error;
};

} // namespace overdub
