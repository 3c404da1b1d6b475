// Why a function is not lifted.
#pragma once

#include <llvm/IR/Instruction.h>
#include <string>

namespace overdub::lifting {

/// Thrown by the analyses of a function, before anything is emitted.
struct refusal {
  std::string construct;
  std::string why;
  std::string instead;
  llvm::Instruction const* at = nullptr; // its location is reported
};

} // namespace overdub::lifting
