#include "function_values.hpp"

#include "retain_release.hpp"

#include <overdub/implementation/execute/buffer.hpp>
#include <overdub/ir/type_text.hpp>

namespace overdub::jit {

function_values::function_values(
    ir::program const& p, ir::parameter_ownership const& owners, function_table& functions,
    execute::code& code)
    : p_(p), owners_(owners), functions_(functions), code_(code) {}

std::uint32_t function_values::closure_number(function_id f, std::uint32_t captured, ir::type function) {
  auto const [at, added] = closure_numbers_.try_emplace({index_of(f), captured, function.index}, 0);
  if (!added) return at->second;
  execute::function_code code;
  for (value_id const v : p_[f].parameters()) {
    ir::type const t = p_[f].type_of(v);
    if (ir::is_reference_counted(t))
      code.owners.push_back((code.parameter_words + (t.rank > 0 ? 1 : 0)) * execute::word_size);
    if (t.is_function()) code.functions.push_back(code.owners.back());
    code.parameter_words += execute::words_of(t);
  }
  at->second = static_cast<std::uint32_t>(code_.functions.size());
  code_.functions.push_back(std::move(code));
  closures_.push_back({f, captured, function, at->second});
  (void)functions_.function_for(f);
  return at->second;
}

llvm::Function* function_values::applier_for(ir::type function) {
  ir::signature const& s = p_.signature_of(function);
  llvm::SmallVector<llvm::Type*, 8> parameters(
      s.calls == ir::convention::direct ? 2 : 4, pointer_type(functions_.context()));
  if (s.calls == ir::convention::boxed) {
    // One function for all types.
    if (auto* const known = functions_.module().getFunction("apply.boxed")) return known;
    auto* const made = functions_.create("apply.boxed", parameters, {});
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(functions_.context(), "", made));
    llvm::Value* const words =
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), made->getArg(1), sizeof(execute::buffer));
    llvm::Value* const number = b.CreateAlignedLoad(b.getInt64Ty(), words, llvm::Align(8));
    llvm::Value* const target =
        b.CreateAlignedLoad(parameters[0], b.CreateGEP(parameters[0], boxed_table(), number), llvm::Align(8));
    auto* const called = b.CreateCall(
        made->getFunctionType(), target,
        {made->getArg(0), made->getArg(1), made->getArg(2), made->getArg(3)});
    called->setCallingConv(llvm::CallingConv::Fast);
    b.CreateRetVoid();
    return made;
  }
  auto& [type, made] = appliers_[function.index];
  if (made != nullptr) return made;
  type = function;
  std::string const name = "apply." + ir::text_of(p_, function);
  if (s.calls == ir::convention::indirect) return made = functions_.create(name, parameters, {});
  for (ir::type const t : s.parameters) append_types(functions_.context(), t, parameters);
  return made = functions_.create(name, parameters, s.results);
}

// The table of functions for boxed values; filled when all are known.
llvm::GlobalVariable* function_values::boxed_table() {
  if (boxed_ == nullptr)
    boxed_ = new llvm::GlobalVariable(
        functions_.module(), pointer_type(functions_.context()), true, llvm::GlobalValue::ExternalLinkage,
        nullptr, "boxed");
  return boxed_;
}
void function_values::fill_boxed_table() {
  if (boxed_ == nullptr) return;
  llvm::PointerType* const pointer = pointer_type(functions_.context());
  std::vector<llvm::Constant*> all(code_.functions.size(), llvm::ConstantPointerNull::get(pointer));
  for (closure const& c : closures_) {
    if (p_.signature_of(c.type).calls != ir::convention::boxed) continue;
    llvm::SmallVector<llvm::Type*, 4> const parameters(4, pointer);
    auto* const f = functions_.create("boxed." + std::string(p_.name_of(c.callee)), parameters, {});
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(functions_.context(), "", f));
    call_closure(b, c, f);
    all[c.number] = f;
  }
  auto* const type = llvm::ArrayType::get(pointer, all.size());
  auto* const table = new llvm::GlobalVariable(
      functions_.module(), type, true, llvm::GlobalValue::PrivateLinkage, llvm::ConstantArray::get(type, all),
      "boxed.table");
  table->setAlignment(llvm::Align(8));
  boxed_->replaceAllUsesWith(table);
  boxed_->eraseFromParent();
}

// A switch over all functions whose values have this type.
void function_values::fill_applier(ir::type function, llvm::Function* f) {
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(functions_.context(), "", f));
  llvm::Value* const words =
      b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), f->getArg(1), sizeof(execute::buffer));
  llvm::Value* const number = b.CreateAlignedLoad(b.getInt64Ty(), words, llvm::Align(8));
  auto* const none = llvm::BasicBlock::Create(functions_.context(), "none", f);
  auto* const choice = b.CreateSwitch(number, none);
  b.SetInsertPoint(none);
  b.CreateUnreachable();
  for (closure const& c : closures_) {
    if (c.type != function) continue;
    auto* const here = llvm::BasicBlock::Create(functions_.context(), "case", f);
    choice->addCase(b.getInt64(c.number), here);
    b.SetInsertPoint(here);
    call_closure(b, c, f);
  }
}
void function_values::fill_appliers() {
  for (auto const& each : appliers_) fill_applier(each.second.first, each.second.second);
}

// Calls the function of a closure with its captures and the arguments of `f`, which returns the results. Afterwards
// releases those arguments that the type owns and the function does not.
void function_values::call_closure(llvm::IRBuilder<>& b, closure const& c, llvm::Function* f) {
  ir::function const& callee = p_[c.callee];
  bool const in_memory = p_.signature_of(c.type).calls != ir::convention::direct;
  auto const after = [&](llvm::Value* at, std::size_t words) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), at, words * execute::word_size);
  };
  auto const loaded = [&](llvm::Type* t, llvm::Value* from) -> llvm::Value* {
    if (!t->isIntegerTy(1)) return b.CreateAlignedLoad(t, from, llvm::Align(8));
    return b.CreateICmpNE(b.CreateAlignedLoad(b.getInt64Ty(), from, llvm::Align(8)), b.getInt64(0));
  };
  llvm::Value* const captured =
      b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), f->getArg(1), sizeof(execute::buffer));
  llvm::SmallVector<llvm::Value*, 8> arguments{f->getArg(0)};
  llvm::SmallVector<std::pair<ir::type, llvm::Value*>, 4> released_later;
  std::size_t next_captured = 2, next_word = 0;
  unsigned next_register = 2;
  for (std::uint32_t k = 0; k < callee.parameters().size(); ++k) {
    ir::type const t = callee.type_of(callee.parameters()[k]);
    llvm::SmallVector<llvm::Type*, 4> types;
    append_types(functions_.context(), t, types);
    std::size_t const first = arguments.size();
    for (llvm::Type* const part : types)
      arguments.push_back(
          k < c.captured ? loaded(part, after(captured, next_captured++))
          : in_memory    ? loaded(part, after(f->getArg(2), next_word++))
                         : f->getArg(next_register++));
    if (!ir::is_reference_counted(t)) continue;
    bool const owned = owners_.owns(c.callee, k);
    llvm::Value* const owner = arguments[first + (t.rank > 0 ? 1 : 0)];
    if (k < c.captured && owned)
      b.CreateCall(retainer(functions_), {owner})->setCallingConv(llvm::CallingConv::Fast);
    if (k >= c.captured && !owned && owners_.owns(c.type, k - c.captured))
      released_later.push_back({t, owner});
  }
  auto* const called = b.CreateCall(functions_.function_for(c.callee), arguments);
  called->setCallingConv(llvm::CallingConv::Fast);
  for (auto const& [t, owner] : released_later)
    b.CreateCall(releaser(functions_, t), {f->getArg(0), owner})->setCallingConv(llvm::CallingConv::Fast);
  if (in_memory) {
    llvm::SmallVector<llvm::Type*, 4> types;
    for (ir::type const t : callee.results) append_types(functions_.context(), t, types);
    for (unsigned k = 0; k < types.size(); ++k) {
      llvm::Value* x = types.size() == 1 ? called : b.CreateExtractValue(called, k);
      if (types[k]->isIntegerTy(1)) x = b.CreateZExt(x, b.getInt64Ty());
      b.CreateAlignedStore(x, after(f->getArg(3), k), llvm::Align(8));
    }
  }
  if (in_memory || called->getType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(called);
}

void function_values::fill() {
  fill_appliers();
  fill_boxed_table();
}

} // namespace overdub::jit
