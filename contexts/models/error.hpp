// What models throw.
#pragma once

#include <overdub/call/error.hpp>

#include <string>

namespace overdub::models {

/// A model cannot be run, or is asked for what it does not have: a choice at an address that it never makes, a value outside of its
/// support, an array of another size.
struct OVERDUB_EXPORTED model_error : error {
  using error::error;
};

/// A choice was given that a run did not make, since its branch was not taken.
struct OVERDUB_EXPORTED unmade_error : model_error {
  using model_error::model_error;
};

namespace detail {
// Where derivatives by a choice are asked for.
[[noreturn]] inline void throw_discrete(std::string const& at) {
  throw model_error(message(
      "overdub: the choice \"%s\" is discrete, and has no derivative; select the continuous ones",
      at.c_str()));
}
} // namespace detail

} // namespace overdub::models
