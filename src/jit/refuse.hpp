// The exception for a function that cannot be compiled.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/ir/program.hpp>

#include <string>

namespace overdub::jit {

/// Throws not_executable, with the reason why a function cannot be compiled.
struct refuser {
  ir::program const& p;
  ir::function_id f;
  [[noreturn]] void operator()(std::string const& why) const {
    throw not_executable(
        message("overdub: @%s cannot be compiled: %s", std::string(p.name_of(f)).c_str(), why.c_str()));
  }
};

} // namespace overdub::jit
