// What engine.cpp includes of LLVM besides (llvm.hpp): passes, code generation, linking; and what differs there between
// versions.
#pragma once

#include "llvm.hpp"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/ExecutionEngine/JITLink/EHFrameSupport.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/DebugObjectManagerPlugin.h>
#include <llvm/ExecutionEngine/Orc/EPCDebugObjectRegistrar.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DivRemPairs.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>
#include <llvm/Transforms/Vectorize/SLPVectorizer.h>
#include <llvm/Transforms/Vectorize/VectorCombine.h>

namespace overdub::jit {

#if LLVM_VERSION_MAJOR >= 18
using generation_level = llvm::CodeGenOptLevel;
inline constexpr auto object_file = llvm::CodeGenFileType::ObjectFile;
#else
using generation_level = llvm::CodeGenOpt::Level;
inline constexpr auto object_file = llvm::CGFT_ObjectFile;
#endif

inline auto symbol_at(void const* address, llvm::JITSymbolFlags flags) {
#if LLVM_VERSION_MAJOR >= 17
  return llvm::orc::ExecutorSymbolDef(llvm::orc::ExecutorAddr::fromPtr(address), flags);
#else
  return llvm::JITEvaluatedSymbol(llvm::pointerToJITTargetAddress(address), flags);
#endif
}
/// Of a symbol that was looked up.
template <class Symbol>
void* address_of(Symbol const& found) {
#if LLVM_VERSION_MAJOR >= 17
  return found.getAddress().template toPtr<void*>();
#else
  return llvm::jitTargetAddressToPointer<void*>(found.getAddress());
#endif
}

inline void set_triple(llvm::Module& m, llvm::TargetMachine const& target) {
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

inline llvm::LICMPass new_licm() {
#if LLVM_VERSION_MAJOR >= 15
  return llvm::LICMPass(llvm::LICMOptions());
#else
  return {};
#endif
}

} // namespace overdub::jit
