#include "alias_scopes.hpp"

namespace overdub::jit {

void alias_scopes::set_on(llvm::Instruction* access, value_id accumulator) const {
  constexpr std::size_t most = 16; // with more, alias metadata is omitted: it would be quadratic
  if (all_.size() > most) return;
  llvm::SmallVector<llvm::Metadata*, 8> own, others;
  for (auto const& [v, scope] : all_) (v == accumulator ? own : others).push_back(scope);
  if (accumulator != ir::nothing && own.empty())
    return; // it has no scope in this function: it is the caller's
  llvm::LLVMContext& context = access->getContext();
  if (!own.empty()) access->setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(context, own));
  if (!others.empty()) access->setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(context, others));
}

} // namespace overdub::jit
