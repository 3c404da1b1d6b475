// Machine code for compiled functions: compile(contexts, f, signature, {.executor = jit::compiled()}).
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/jit/jit.hpp>

#include <memory>

namespace overdub::jit {

/// An executor that compiles programs by LLVM, as jit::compile does. Thread-safe.
std::shared_ptr<executor const> compiled(options const& o = {});

} // namespace overdub::jit
