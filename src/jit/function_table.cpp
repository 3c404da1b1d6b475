#include "function_table.hpp"

namespace overdub::jit {

function_table::function_table(
    ir::program const& p, ir::call_components const& calls, llvm::Module& m, unsigned vector_bits)
    : p_(p), calls_(calls), module_(m), vector_bits_(vector_bits), made_(p.functions.size()) {}

llvm::Function* function_table::create(
    std::string const& name, llvm::ArrayRef<llvm::Type*> parameters, llvm::ArrayRef<ir::type> results) {
  auto* const made = llvm::Function::Create(
      llvm::FunctionType::get(result_type(context(), results), parameters, false),
      llvm::Function::InternalLinkage, name, module_);
  made->setCallingConv(llvm::CallingConv::Fast);
  made->setAlignment(llvm::Align(64));
  set_unwindable(*made);
  // Vector versions of functions are worth the widest vectors.
  if (p_.math != ir::math_mode::exact) made->addFnAttr("prefer-vector-width", std::to_string(vector_bits_));
  return made;
}

llvm::Function* function_table::function_for(function_id f) {
  llvm::Function*& made = made_[index_of(f)];
  if (made != nullptr) return made;
  llvm::SmallVector<llvm::Type*, 8> parameters{pointer_type(context())};
  for (value_id const v : p_[f].parameters()) append_types(context(), p_[f].type_of(v), parameters);
  made = create("overdub." + std::string(p_.name_of(f)), parameters, p_[f].results);
  // Unbounded recursion must reach the stack limit.
  if (calls_.is_recursive(f)) made->addFnAttr("disable-tail-calls", "true");
  pending_.push_back(f);
  return made;
}

std::optional<function_id> function_table::next_pending() {
  if (pending_.empty()) return {};
  function_id const f = pending_.back();
  pending_.pop_back();
  return f;
}

} // namespace overdub::jit
