// Emission of LLVM instructions for one function: constants, blocks, calls, requirements, stack memory. It knows no
// operations.
#pragma once

#include "alias_scopes.hpp"
#include "engine.hpp"
#include "symbols.hpp"
#include "values.hpp"

#include <cstdint>
#include <optional>

namespace overdub::jit {

using block = llvm::BasicBlock*;

/// An exception handler: calls unwind to one block; exceptions rethrown by nested handlers join after it.
struct handler {
  block landing;
  llvm::PHINode* exception;
  bool catches; // or rethrows to the caller
};

class emitter {
public:
  /// `f`: its first argument is the machine.
  emitter(llvm::Function& f, vector_unit const& vectors, ir::math_mode math);

  llvm::ConstantInt* integer(std::int64_t x) { return b.getInt64(static_cast<std::uint64_t>(x)); }
  llvm::Type* type(ir::scalar s) const { return scalar_type(context, s); }
  llvm::PointerType* pointer() const { return pointer_type(context); }
  llvm::Constant* null() const { return llvm::ConstantPointerNull::get(pointer()); }

  block new_block(char const* name) { return llvm::BasicBlock::Create(context, name, &function); }
  void go(block to) { b.CreateBr(to); }
  void at(block to) { b.SetInsertPoint(to); }
  void branch_rarely(llvm::Value* rare, block then, block otherwise);
  /// The values that two blocks pass to the current one.
  parts joined(parts const& first, block from_first, parts const& second, block from_second);

  llvm::CallBase* call(llvm::FunctionCallee f, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::CallBase* call(runtime_function f, llvm::ArrayRef<llvm::Value*> arguments) {
    return call(declare(module(), f), arguments);
  }
  /// Continues if the condition holds; else calls a function that throws.
  void require(llvm::Value* condition, runtime_function fail, llvm::ArrayRef<llvm::Value*> arguments);

  /// The machine, for code that needs it.
  llvm::Value* machine() {
    uses_machine_ = true;
    return passed_machine();
  }
  /// The machine, to be passed to a function that may need it.
  llvm::Value* passed_machine() const { return function.getArg(0); }
  bool uses_machine() const { return uses_machine_; }

  /// Stack memory for C++ values, aligned for vectors.
  llvm::Value* new_words(std::uint32_t words);
  /// The alignment of a vector in new_words, at a multiple of its size.
  llvm::Align vector_alignment(llvm::Type* vector) const;

  llvm::Module& module() const { return *function.getParent(); }

  llvm::Function& function;
  llvm::LLVMContext& context;
  llvm::IRBuilder<> b;
  std::optional<handler> current_handler; // nothing: the caller's
  alias_scopes scopes;

private:
  vector_unit const vectors_;
  bool uses_machine_ = false;
};

/// Stack memory, allocated at the insertion point.
llvm::AllocaInst* stack_words(llvm::IRBuilder<>& b, vector_unit const& vectors, std::size_t words);

} // namespace overdub::jit
