// pass_error: what is thrown where the pass of a context failed.
#pragma once

#include <overdub/call/error.hpp>

#include <string>
#include <utility>

namespace overdub {

/// The pass of a context threw, or made a program that breaks a rule. `what()` names the context, the stage, the function that was
/// compiled and the types of its arguments. Where the pass threw, it ends with the text of that exception, which is nested:
/// std::rethrow_if_nested. Else `program` is the text of the program that the pass made. A pass that throws a pass_error, or a class
/// derived from it, is not reported in this way: the exception reaches the caller as it is.
struct OVERDUB_EXPORTED pass_error : rejected_program {
  pass_error(message const& why, std::string text) : rejected_program(why), program(std::move(text)) {}
  std::string program;
};

} // namespace overdub
