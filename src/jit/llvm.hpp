// What generating code includes of LLVM, and all that differs between its versions (14 to 19): what engine.cpp and linking.cpp
// include besides is the same in all of them.
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
#include <llvm/Passes/OptimizationLevel.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#if LLVM_VERSION_MAJOR >= 20
#include <llvm/ExecutionEngine/Orc/SymbolStringPool.h>
#endif

#include <memory>
#include <string>
#include <type_traits>

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

// ---- optimisation and code generation

#if LLVM_VERSION_MAJOR >= 18
using generation_level = llvm::CodeGenOptLevel;
inline constexpr auto object_file = llvm::CodeGenFileType::ObjectFile;
#else
using generation_level = llvm::CodeGenOpt::Level;
inline constexpr auto object_file = llvm::CGFT_ObjectFile;
#endif

template <class TargetMachine>
void set_triple(llvm::Module& m, TargetMachine const& target) {
#if LLVM_VERSION_MAJOR >= 21
  m.setTargetTriple(target.getTargetTriple());
#else
  m.setTargetTriple(target.getTargetTriple().str());
#endif
}

/// The level at which functions are inlined; LLVM 14 fails on pointers without types at the highest.
inline llvm::OptimizationLevel inlining_level(int level) {
  if (level == 1) return llvm::OptimizationLevel::O1;
  return level == 2 || LLVM_VERSION_MAJOR < 15 ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O3;
}

/// Whether loops are vectorised: LLVM 14 fails on pointers without types there, too.
inline constexpr bool vectorises_loops = LLVM_VERSION_MAJOR >= 15;

/// The pass that takes out of loops what stays the same, with LLVM's own limits.
template <class Pass>
Pass new_licm() {
  if constexpr (std::is_default_constructible_v<Pass>) // 14
    return Pass();
  else
    return Pass(100, 250, /*AllowSpeculation=*/true);
}

// ---- linking

/// An address, as a look-up answers with it.
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

/// The text of a symbol's name: a text, or a pointer to one from version 20 on.
template <class Name>
std::string text_of(Name const& name) {
  if constexpr (std::is_same_v<Name, llvm::StringRef>)
    return name.str();
  else
    return (*name).str();
}

/// What `create`, which is jitlink::createLinkGraphFromObject, makes of an object.
template <class Create, class Bytes>
auto link_graph_of(Create const& create, Bytes const& object) {
#if LLVM_VERSION_MAJOR >= 20
  return create(object, std::make_shared<llvm::orc::SymbolStringPool>());
#else
  return create(object);
#endif
}

} // namespace overdub::jit
