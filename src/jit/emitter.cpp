#include "emitter.hpp"

namespace overdub::jit {

emitter::emitter(llvm::Function& f, vector_unit const& vectors, ir::math_mode math)
    : function(f), context(f.getContext()), b(context), vectors_(vectors) {
  if (math == ir::math_mode::fast) {
    // Without nnan and ninf: NaN and infinities are allowed. Without arcp: 1/y may overflow for a subnormal y where x/y
    // is finite.
    llvm::FastMathFlags fast;
    fast.setAllowContract(true);
    fast.setAllowReassoc();
    fast.setNoSignedZeros();
    fast.setApproxFunc();
    b.setFastMathFlags(fast);
  }
}

void emitter::branch_rarely(llvm::Value* rare, block then, block otherwise) {
  auto* const branch = b.CreateCondBr(rare, then, otherwise);
  llvm::Type* const t = b.getInt32Ty();
  branch->setMetadata(
      llvm::LLVMContext::MD_prof,
      llvm::MDNode::get(
          context, {llvm::MDString::get(context, "branch_weights"),
                    llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(t, 1)),
                    llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(t, 1u << 20))}));
}

parts emitter::joined(parts const& first, block from_first, parts const& second, block from_second) {
  parts all;
  for (std::size_t k = 0; k < first.size(); ++k) {
    auto* const either = b.CreatePHI(first[k]->getType(), 2);
    either->addIncoming(first[k], from_first);
    either->addIncoming(second[k], from_second);
    all.push_back(either);
  }
  return all;
}

llvm::CallBase* emitter::call(llvm::FunctionCallee f, llvm::ArrayRef<llvm::Value*> arguments) {
  auto* const callee = llvm::cast<llvm::Function>(f.getCallee());
  llvm::CallBase* made;
  if (current_handler && !callee->doesNotThrow()) {
    block const next = new_block("after");
    made = b.CreateInvoke(f, next, current_handler->landing, arguments);
    at(next);
  } else
    made = b.CreateCall(f, arguments);
  made->setCallingConv(callee->getCallingConv());
  made->setAttributes(llvm::AttributeList::get(context, {}, callee->getAttributes().getRetAttrs(), {}));
  return made;
}

void emitter::require(llvm::Value* condition, runtime_function fail, llvm::ArrayRef<llvm::Value*> arguments) {
  if (auto* const known = llvm::dyn_cast<llvm::ConstantInt>(condition); known != nullptr && known->isOne())
    return;
  block const failed = new_block("failed"), good = new_block("good");
  branch_rarely(b.CreateNot(condition), failed, good);
  at(failed);
  (void)call(fail, arguments);
  b.CreateUnreachable();
  at(good);
}

llvm::Value* emitter::new_words(std::uint32_t words) {
  llvm::IRBuilder<> first(&function.getEntryBlock(), function.getEntryBlock().begin());
  return stack_words(first, vectors_, words);
}

llvm::Align emitter::vector_alignment(llvm::Type* vector) const {
  return vectors_.alignment(vector->getPrimitiveSizeInBits().getFixedValue() / 8);
}

llvm::AllocaInst* stack_words(llvm::IRBuilder<>& b, vector_unit const& vectors, std::size_t words) {
  auto* const made = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), words));
  made->setAlignment(vectors.alignment(words * execute::word_size));
  return made;
}

} // namespace overdub::jit
