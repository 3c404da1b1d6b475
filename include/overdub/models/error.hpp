// The exceptions of models.
#pragma once

#include <overdub/core/error.hpp>

#include <string>

namespace overdub::models {

/// A model cannot be run, or an argument is invalid for the model: it has an address that the model never samples, a value outside of the
/// support, or an array of the wrong size.
struct OVERDUB_EXPORTED model_error : error {
  using error::error;
};

/// The given choices do not match those of the run: an address that the run did not sample, as in a branch that was not taken, or a number
/// of values that differs from the number of iterations.
struct OVERDUB_EXPORTED unmade_error : model_error {
  using model_error::model_error;
};

namespace detail {
// Throws: a log density is not differentiated with respect to a discrete choice.
[[noreturn]] inline void throw_discrete(std::string const& at) {
  throw model_error(message(
      "overdub: the choice \"%s\" is discrete, and has no derivative; select continuous choices",
      at.c_str()));
}
} // namespace detail

} // namespace overdub::models
