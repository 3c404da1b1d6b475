// pass_error: the exception for a pass of a context that failed.
#pragma once

#include <overdub/core/error.hpp>

#include <string>
#include <utility>

namespace overdub {

/// The pass of a context threw, or returned an invalid program. `what()` has the context, the stage, the compiled function and the types of
/// its arguments. If the pass threw, it ends with the text of that exception, which is nested (std::rethrow_if_nested). Otherwise `program`
/// is the text of the invalid program. If a pass throws a pass_error, or a class derived from it, the caller receives that exception
/// unchanged.
struct OVERDUB_EXPORTED pass_error : rejected_program {
  pass_error(message const& why, std::string text) : rejected_program(why), program(std::move(text)) {}
  std::string program;
};

} // namespace overdub
