// All that is included of LLVM, and all that differs between its versions (14 to 19).
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#if LLVM_VERSION_MAJOR < 14
#error "overdub::jit needs LLVM 14 or newer"
#endif

namespace overdub::jit {

/// A context whose pointers have no types of what they point to.
inline std::unique_ptr<llvm::LLVMContext> new_context() {
  auto made = std::make_unique<llvm::LLVMContext>();
#if LLVM_VERSION_MAJOR == 14
  made->enableOpaquePointers();
#endif
  return made;
}

/// The type of all pointers.
inline llvm::PointerType* pointer_type(llvm::LLVMContext& c) { return llvm::PointerType::get(c, 0); }

/// Exceptions pass through, and stacks are walked at any instruction.
inline void set_unwindable(llvm::Function& f) {
#if LLVM_VERSION_MAJOR >= 15
  f.setUWTableKind(llvm::UWTableKind::Async);
#else
  f.addFnAttr(llvm::Attribute::UWTable);
#endif
}

/// Gives the same for the same arguments, reads and writes no memory, throws nothing, and ends.
inline void set_pure(llvm::Function& f) {
#if LLVM_VERSION_MAJOR >= 16
  f.setDoesNotAccessMemory();
#else
  f.addFnAttr(llvm::Attribute::ReadNone);
#endif
  f.setDoesNotThrow();
  f.addFnAttr(llvm::Attribute::WillReturn);
}

/// An intrinsic function for one type.
inline llvm::Function* intrinsic(llvm::Module& m, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types) {
  return llvm::Intrinsic::getDeclaration(&m, id, types);
}

} // namespace overdub::jit
