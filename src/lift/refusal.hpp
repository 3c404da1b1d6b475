// Why a function is not lifted.
#pragma once

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Instruction.h>
#include <string>
#include <utility>

namespace overdub::lifting {

/// Thrown by the analyses of a function, before anything is emitted.
struct refusal {
  std::string construct;
  std::string why;
  std::string instead;
  llvm::Instruction const* at = nullptr; // its location is reported
};

/// Throws a refusal of an instruction; null: of the function.
[[noreturn]] inline void
refuse(llvm::Instruction const* at, std::string construct, std::string why, std::string instead) {
  throw refusal{std::move(construct), std::move(why), std::move(instead), at};
}

/// The name of a value as users know it, after a space and in quotes; nothing, if it has none.
inline std::string quoted_name(llvm::Value const& v) {
  return v.hasName() ? " '" + llvm::demangle(v.getName().str()) + "'" : std::string();
}

} // namespace overdub::lifting
