// What models throw.
#pragma once

#include <overdub/call/error.hpp>

namespace overdub::models {

/// A model cannot be run, or is asked for what it does not have: a choice at an address that it never makes, a value outside of its
/// support, an array of another size.
struct model_error : error {
  using error::error;
};

} // namespace overdub::models
