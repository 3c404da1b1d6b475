// The headers of LLVM for code generation, and differences between versions 15 to 19.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/JITSymbol.h>
#include <llvm/ExecutionEngine/Orc/Shared/ExecutorAddress.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace overdub::jit {

/// The opaque pointer type.
inline llvm::PointerType* pointer_type(llvm::LLVMContext& c) { return llvm::PointerType::get(c, 0); }

/// Declares that exceptions may propagate through the function, and that the stack can be unwound at any of its instructions.
inline void set_unwindable(llvm::Function& f) { f.setUWTableKind(llvm::UWTableKind::Async); }

/// Declares that the function returns equal results for equal arguments, accesses no memory, does not throw, and terminates.
inline void set_pure(llvm::Function& f) {
  f.setDoesNotAccessMemory();
  f.setDoesNotThrow();
  f.addFnAttr(llvm::Attribute::WillReturn);
}

/// The declaration of an intrinsic function for these types.
inline llvm::Function* intrinsic(llvm::Module& m, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types) {
  return llvm::Intrinsic::getDeclaration(&m, id, types);
}

// ---- differences between versions

#if LLVM_VERSION_MAJOR >= 18
using generation_level = llvm::CodeGenOptLevel;
inline constexpr auto object_file = llvm::CodeGenFileType::ObjectFile;
#else
using generation_level = llvm::CodeGenOpt::Level;
inline constexpr auto object_file = llvm::CGFT_ObjectFile;
#endif

/// An address as the result of a symbol lookup.
template <class Symbol>
Symbol symbol_at(void const* address) {
  auto const flags = llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable;
  auto const at = llvm::orc::ExecutorAddr::fromPtr(address);
#if LLVM_VERSION_MAJOR >= 17
  return Symbol(at, flags);
#else
  return Symbol(at.getValue(), flags);
#endif
}

} // namespace overdub::jit
