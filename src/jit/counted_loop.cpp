#include "counted_loop.hpp"

namespace overdub::jit {

counted_loop begin_loop(emitter& e, llvm::Value* count, llvm::ArrayRef<llvm::Value*> carried) {
  block const from = e.b.GetInsertBlock();
  counted_loop l{
      e.new_block("loop"), e.new_block("body"), e.new_block("next"), e.new_block("done"), nullptr, {}};
  e.go(l.header);
  e.at(l.header);
  l.index = e.b.CreatePHI(e.b.getInt64Ty(), 2);
  l.index->addIncoming(e.integer(0), from);
  for (llvm::Value* const x : carried) {
    l.carried.push_back(e.b.CreatePHI(x->getType(), 2));
    l.carried.back()->addIncoming(x, from);
  }
  e.b.CreateCondBr(e.b.CreateICmpSLT(l.index, count), l.body, l.exit);
  e.at(l.body);
  return l;
}

void end_loop(emitter& e, counted_loop const& l, llvm::ArrayRef<llvm::Value*> next, bool unrolled) {
  e.go(l.latch);
  e.at(l.latch);
  l.index->addIncoming(e.b.CreateNSWAdd(l.index, e.integer(1)), l.latch);
  for (std::size_t k = 0; k < next.size(); ++k) l.carried[k]->addIncoming(next[k], l.latch);
  auto* const back = e.b.CreateBr(l.header);
  if (unrolled) {
    auto* const count = llvm::MDNode::get(
        e.context, {llvm::MDString::get(e.context, "llvm.loop.unroll.count"),
                    llvm::ConstantAsMetadata::get(e.b.getInt32(4))});
    auto* const id = llvm::MDNode::getDistinct(e.context, {nullptr, count});
    id->replaceOperandWith(0, id);
    back->setMetadata(llvm::LLVMContext::MD_loop, id);
  }
  e.at(l.exit);
}

} // namespace overdub::jit
