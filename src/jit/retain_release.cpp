#include "retain_release.hpp"

#include "symbols.hpp"

namespace overdub::jit {

llvm::Function* retainer(function_table& functions) {
  llvm::Module& m = functions.module();
  llvm::LLVMContext& context = m.getContext();
  if (auto* const known = m.getFunction("retain")) return known;
  auto* const f = functions.create("retain", {pointer_type(context)}, {});
  f->addFnAttr(llvm::Attribute::AlwaysInline);
  f->setDoesNotThrow();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", f));
  auto* const some = llvm::BasicBlock::Create(context, "some", f);
  auto* const done = llvm::BasicBlock::Create(context, "done", f);
  llvm::Value* const owner = f->getArg(0);
  b.CreateCondBr(b.CreateIsNull(owner), done, some);
  b.SetInsertPoint(some);
  llvm::Value* const count = b.CreateAlignedLoad(b.getInt64Ty(), owner, llvm::Align(8));
  b.CreateAlignedStore(b.CreateAdd(count, b.getInt64(1)), owner, llvm::Align(8));
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return f;
}

llvm::Function* releaser(function_table& functions, ir::type t) {
  llvm::Module& m = functions.module();
  llvm::LLVMContext& context = m.getContext();
  bool const is_array = t.rank > 0;
  char const* const name = is_array ? "release" : "release_function";
  if (auto* const known = m.getFunction(name)) return known;
  auto* const f = functions.create(name, {pointer_type(context), pointer_type(context)}, {});
  f->addFnAttr(llvm::Attribute::AlwaysInline);
  f->setDoesNotThrow();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", f));
  auto const new_block = [&](char const* of) { return llvm::BasicBlock::Create(context, of, f); };
  auto *const some = new_block("some"), *const last = new_block("last"), *const shared = new_block("shared"),
              *const done = new_block("done");
  llvm::Value *const machine = f->getArg(0), *const owner = f->getArg(1);
  if (is_array)
    b.CreateCondBr(b.CreateIsNull(owner), done, some);
  else
    b.CreateBr(some);
  b.SetInsertPoint(some);
  llvm::Value* const count = b.CreateAlignedLoad(b.getInt64Ty(), owner, llvm::Align(8));
  b.CreateCondBr(b.CreateICmpEQ(count, b.getInt64(1)), last, shared);
  b.SetInsertPoint(last);
  auto const frees = is_array ? runtime_function::free_buffer : runtime_function::release_function;
  b.CreateCall(declare(m, frees), {machine, owner});
  b.CreateBr(done);
  b.SetInsertPoint(shared);
  b.CreateAlignedStore(b.CreateSub(count, b.getInt64(1)), owner, llvm::Align(8));
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return f;
}

} // namespace overdub::jit
