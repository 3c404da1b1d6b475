// The C++ functions that machine code calls, by symbol: the runtime (runtime.def), elementary functions, and functions of the
// compiler's support library.
#pragma once

#include "linking.hpp"
#include "llvm.hpp"

#include <overdub/ir/op.hpp>
#include <overdub/ir/type.hpp>

#include <vector>

namespace overdub::jit {

/// The symbols and addresses of all these functions.
std::vector<symbol_address> runtime_symbols();

enum class runtime_function : std::uint8_t {
#define OVERDUB_RUNTIME(NAME, KIND) NAME,
#include "runtime.def"
};

/// Declares a function of the runtime.
llvm::Function* declare(llvm::Module&, runtime_function);

/// Declares the elementary function that computes an operation on numbers of a type.
llvm::Function* declare(llvm::Module&, ir::op, ir::scalar);
/// Whether libm has a function that writes the sine and the cosine of its first argument to two addresses, bitwise equal to those
/// of the single functions. glibc has one.
bool has_sine_and_cosine();
llvm::Function* declare_sine_and_cosine(llvm::Module&, ir::scalar);

} // namespace overdub::jit
