// The exceptions of models.
#pragma once

#include <overdub/core/error.hpp>

#include <string>

namespace overdub::models {

/// A model cannot be run, or an argument does not fit it: an address that it never samples, a value outside of the support, an array of
/// another size.
struct OVERDUB_EXPORTED model_error : error {
  using error::error;
};

/// A choice was given that the run did not make, since its branch was not taken.
struct OVERDUB_EXPORTED unmade_error : model_error {
  using model_error::model_error;
};

namespace detail {
// Rejects a derivative by a discrete choice.
[[noreturn]] inline void throw_discrete(std::string const& at) {
  throw model_error(message(
      "overdub: the choice \"%s\" is discrete, and has no derivative; select the continuous ones",
      at.c_str()));
}
} // namespace detail

} // namespace overdub::models
