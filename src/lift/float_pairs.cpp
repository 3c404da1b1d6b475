#include "float_pairs.hpp"

#include "linear_memory.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <vector>

namespace overdub::lifting {
namespace {

constexpr llvm::StringLiteral pair_mark = "overdub-pair";

bool is_pair(llvm::Type const* t) {
  auto const* const vector = llvm::dyn_cast<llvm::FixedVectorType>(t);
  return vector && vector->getNumElements() == 2 && vector->getElementType()->isFloatTy();
}
void add_parts(llvm::Type* t, std::vector<llvm::Type*>& all) {
  if (is_pair(t))
    all.insert(all.end(), 2, llvm::Type::getFloatTy(t->getContext()));
  else
    all.push_back(t);
}

// The type of a function whose pairs are split; the same if it has none.
llvm::Type* split_result(llvm::Type* t) {
  std::vector<llvm::Type*> fields;
  if (auto* const all = llvm::dyn_cast<llvm::StructType>(t)) {
    if (llvm::none_of(all->elements(), is_pair)) return t;
    for (llvm::Type* const field : all->elements()) add_parts(field, fields);
  } else if (is_pair(t))
    add_parts(t, fields);
  else
    return t;
  return llvm::StructType::get(t->getContext(), fields);
}
llvm::FunctionType* split_type(llvm::FunctionType& type) {
  std::vector<llvm::Type*> parameters;
  for (llvm::Type* const t : type.params()) add_parts(t, parameters);
  return llvm::FunctionType::get(split_result(type.getReturnType()), parameters, type.isVarArg());
}

void add_parts(llvm::IRBuilder<>& at, llvm::Value* x, std::vector<llvm::Value*>& all) {
  if (!is_pair(x->getType())) return all.push_back(x);
  for (std::uint64_t const k : {std::uint64_t{0}, std::uint64_t{1}}) all.push_back(at.CreateExtractElement(x, k));
}
// The parts of a pair, or of a struct of pairs and other numbers.
std::vector<llvm::Value*> parts_of(llvm::IRBuilder<>& at, llvm::Value* x) {
  std::vector<llvm::Value*> parts;
  if (!x->getType()->isStructTy()) add_parts(at, x, parts);
  for (unsigned k = 0; x->getType()->isStructTy() && k < x->getType()->getStructNumElements(); ++k) {
    llvm::Value* const known = llvm::FindInsertedValue(x, {k});
    add_parts(at, known ? known : at.CreateExtractValue(x, {k}), parts);
  }
  return parts;
}
// A pair, or a struct with pairs, of its parts.
llvm::Value* joined(llvm::IRBuilder<>& at, llvm::Type* type, llvm::ArrayRef<llvm::Value*> parts) {
  llvm::Value* all = llvm::PoisonValue::get(type);
  if (is_pair(type)) {
    for (std::uint64_t const k : {std::uint64_t{0}, std::uint64_t{1}}) all = at.CreateInsertElement(all, parts[k], k);
    return all;
  }
  for (unsigned k = 0; k < type->getStructNumElements(); ++k) {
    llvm::Type* const field = type->getStructElementType(k);
    all = at.CreateInsertValue(all, is_pair(field) ? joined(at, field, parts) : parts[0], {k});
    parts = parts.drop_front(is_pair(field) ? 2 : 1);
  }
  return all;
}
// The parts in memory.
std::vector<scalar_in_type> floats_of(llvm::Type* type, llvm::DataLayout const& layout) {
  std::vector<scalar_in_type> all;
  for (auto const& [part, offset] : scalars_of(type, layout)) {
    if (!is_pair(part)) {
      all.push_back({part, offset});
      continue;
    }
    llvm::Type* const number = part->getScalarType();
    all.push_back({number, offset});
    all.push_back({number, offset + layout.getTypeStoreSize(number)});
  }
  return all;
}

// The attributes of a parameter that is no pair stay with it; those of others and of the result are dropped.
llvm::AttributeList split_attributes(llvm::AttributeList const& all, llvm::FunctionType const& type) {
  llvm::LLVMContext& context = type.getContext();
  llvm::AttrBuilder pair(context);
  pair.addAttribute(pair_mark);
  std::vector<llvm::AttributeSet> parameters;
  for (unsigned k = 0; k < type.getNumParams(); ++k)
    if (is_pair(type.getParamType(k))) {
      parameters.push_back(llvm::AttributeSet::get(context, pair));
      parameters.emplace_back();
    } else
      parameters.push_back(all.getParamAttrs(k));
  llvm::AttributeSet const of_result =
      split_result(type.getReturnType()) == type.getReturnType() ? all.getRetAttrs() : llvm::AttributeSet();
  return llvm::AttributeList::get(context, all.getFnAttrs(), of_result, parameters);
}

void split_return(llvm::ReturnInst& end) {
  llvm::Value* const x = end.getReturnValue();
  if (!x || split_result(x->getType()) == x->getType()) return;
  llvm::IRBuilder<> at(&end);
  std::vector<llvm::Value*> const parts = parts_of(at, x);
  llvm::Value* all = llvm::PoisonValue::get(split_result(x->getType()));
  for (unsigned k = 0; k < parts.size(); ++k) all = at.CreateInsertValue(all, parts[k], {k});
  at.CreateRet(all);
  end.eraseFromParent();
}

// Replaces a function by one of the split type. Its body still computes with pairs.
void split_function(llvm::Function& f) {
  llvm::FunctionType* const type = split_type(*f.getFunctionType());
  if (type == f.getFunctionType()) return;
  llvm::Function* const made =
      llvm::Function::Create(type, f.getLinkage(), f.getAddressSpace(), "", f.getParent());
  made->copyAttributesFrom(&f);
  made->setAttributes(split_attributes(f.getAttributes(), *f.getFunctionType()));
  made->setComdat(f.getComdat());
  made->setSubprogram(f.getSubprogram());
  f.setSubprogram(nullptr);
  made->takeName(&f);
  std::vector<llvm::BasicBlock*> blocks;
  for (llvm::BasicBlock& b : f) blocks.push_back(&b);
  for (llvm::BasicBlock* const b : blocks) {
    b->removeFromParent();
    b->insertInto(made);
  }
  unsigned next = 0;
  for (llvm::Argument& a : f.args()) {
    llvm::Argument* const first = made->getArg(next++);
    if (!is_pair(a.getType())) {
      first->takeName(&a);
      a.replaceAllUsesWith(first);
      continue;
    }
    llvm::Argument* const second = made->getArg(next++);
    if (blocks.empty()) continue;
    llvm::IRBuilder<> at(&*made->getEntryBlock().getFirstInsertionPt());
    a.replaceAllUsesWith(joined(at, a.getType(), {first, second}));
  }
  for (llvm::BasicBlock* const b : blocks)
    if (auto* const end = llvm::dyn_cast<llvm::ReturnInst>(b->getTerminator())) split_return(*end);
  f.replaceAllUsesWith(made);
  f.eraseFromParent();
}

void split_call(llvm::CallBase& call) {
  llvm::FunctionType& before = *call.getFunctionType();
  llvm::FunctionType* const type = split_type(before);
  if (type == &before || before.isVarArg() || llvm::isa<llvm::CallBrInst>(call)) return;
  llvm::IRBuilder<> at(&call);
  std::vector<llvm::Value*> arguments;
  for (llvm::Value* const argument : call.args()) add_parts(at, argument, arguments);
  llvm::CallBase* made = nullptr;
  auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(&call);
  if (invoke)
    made = at.CreateInvoke(
        type, call.getCalledOperand(), invoke->getNormalDest(), invoke->getUnwindDest(), arguments);
  else
    made = at.CreateCall(type, call.getCalledOperand(), arguments);
  made->setCallingConv(call.getCallingConv());
  made->setAttributes(split_attributes(call.getAttributes(), before));
  if (made->getType() == call.getType()) {
    call.replaceAllUsesWith(made);
  } else if (!call.use_empty()) {
    if (invoke) {
      // The edge to the normal destination has a block of its own, where the result is.
      llvm::BasicBlock* const next = invoke->getNormalDest();
      llvm::BasicBlock* const block =
          llvm::BasicBlock::Create(call.getContext(), "", call.getFunction(), next);
      llvm::cast<llvm::InvokeInst>(made)->setNormalDest(block);
      at.SetInsertPoint(llvm::BranchInst::Create(next, block));
      next->replacePhiUsesWith(call.getParent(), block);
    }
    call.replaceAllUsesWith(joined(at, call.getType(), parts_of(at, made)));
  }
  call.eraseFromParent();
}

// What is loaded or stored to be passed on has no alias information; a vector of the program has some.
void split_access(llvm::Instruction& i) {
  llvm::Value* const pointer = llvm::getLoadStorePointerOperand(&i);
  if (!pointer || i.isVolatile() || i.getMetadata(llvm::LLVMContext::MD_tbaa)) return;
  llvm::Type* const type = llvm::getLoadStoreType(&i);
  if (split_result(type) == type) return;
  llvm::IRBuilder<> at(&i);
  llvm::Align const align = llvm::getLoadStoreAlignment(&i);
  auto const address = [&](std::uint64_t offset) {
    return at.CreateConstGEP1_64(at.getInt8Ty(), pointer, offset);
  };
  std::vector<scalar_in_type> const scalars = floats_of(type, i.getModule()->getDataLayout());
  if (auto* const store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
    std::vector<llvm::Value*> const parts = parts_of(at, store->getValueOperand());
    for (std::size_t k = 0; k < parts.size(); ++k)
      at.CreateAlignedStore(
          parts[k], address(scalars[k].offset), llvm::commonAlignment(align, scalars[k].offset));
  } else {
    std::vector<llvm::Value*> parts;
    for (auto const& [part, offset] : scalars)
      parts.push_back(at.CreateAlignedLoad(part, address(offset), llvm::commonAlignment(align, offset)));
    i.replaceAllUsesWith(joined(at, type, parts));
  }
  i.eraseFromParent();
}

// The floats of pairs that the function makes itself.
void fold_elements(llvm::Function& f) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) {
    llvm::Value* known = nullptr;
    if (auto* const field = llvm::dyn_cast<llvm::ExtractValueInst>(&i); field && is_pair(field->getType())) {
      known = llvm::FindInsertedValue(field->getAggregateOperand(), field->getIndices());
    } else if (auto* const element = llvm::dyn_cast<llvm::ExtractElementInst>(&i);
               element && is_pair(element->getVectorOperandType())) {
      auto const* const index = llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand());
      if (index && index->getZExtValue() < 2)
        known = llvm::findScalarElement(
            element->getVectorOperand(), static_cast<unsigned>(index->getZExtValue()));
    }
    if (!known || known == &i) continue;
    i.replaceAllUsesWith(known);
    i.eraseFromParent();
  }
}

} // namespace

void split_float_pairs(llvm::Module& m) {
  for (llvm::Function& f : llvm::make_early_inc_range(m))
    if (!f.isIntrinsic()) split_function(f);
  for (llvm::Function& f : m) {
    std::vector<llvm::CallBase*> calls;
    for (llvm::Instruction& i : llvm::instructions(f))
      if (auto* const call = llvm::dyn_cast<llvm::CallBase>(&i))
        if (!call->isInlineAsm() && !(call->getCalledFunction() && call->getCalledFunction()->isIntrinsic()))
          calls.push_back(call);
    for (llvm::CallBase* const call : calls) split_call(*call);
    for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) split_access(i);
    fold_elements(f);
  }
}

bool begins_pair(llvm::Argument const& a) {
  return a.getParent()->getAttributes().hasParamAttr(a.getArgNo(), pair_mark);
}

} // namespace overdub::lifting
