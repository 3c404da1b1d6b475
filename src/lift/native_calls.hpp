// Calls of native functions that the module does not define: operations `host` of the program.
#pragma once

#include "environment.hpp"

#include <overdub/lift.hpp>

#include <llvm/IR/InstrTypes.h>
#include <string>

namespace overdub::lifting {

/// Whether a call is of a function without definition, which is no operation of programs, and whose parameters and results are numbers.
bool is_native_call(llvm::CallBase const& call);
/// How it is called.
called_native describe_native(llvm::Function const& f);

void emit_native_call(environment& e, llvm::CallBase const& call);

} // namespace overdub::lifting
