#include "indirect_calls.hpp"

#include "linear_memory.hpp"
#include "native_calls.hpp"
#include "prepare.hpp"
#include "values.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <span>
#include <string>

namespace overdub::lifting {
namespace {

constexpr llvm::StringLiteral mark = "overdub-dispatcher";

bool uses_address(llvm::Use const& u) {
  auto const* const call = llvm::dyn_cast<llvm::CallBase>(u.getUser());
  return !(call && call->isCallee(&u)) && !llvm::isa<llvm::Function>(u.getUser()); // a personality
}

bool is_supported(llvm::CallBase const& call) {
  return !call.getCalledFunction()->isDeclaration() || allocation_of(call) != allocation::none ||
         problem_of(call).empty() || is_native_call(call);
}

// Makes the dispatcher of a type of functions.
class dispatcher_writer {
public:
  dispatcher_writer(llvm::Module& m, llvm::FunctionType& type) : type_(type) {
    std::vector<llvm::Type*> parameters{llvm::PointerType::getUnqual(m.getContext())};
    parameters.insert(parameters.end(), type.param_begin(), type.param_end());
    std::string name;
    llvm::raw_string_ostream(name) << "call through a pointer to " << type;
    made_ = llvm::Function::Create(
        llvm::FunctionType::get(type.getReturnType(), parameters, false), llvm::Function::InternalLinkage,
        name, m);
    made_->addFnAttr(mark);
  }

  llvm::Function* write(std::span<llvm::Function* const> candidates) {
    choose(candidates);
    return made_;
  }

private:
  void choose(std::span<llvm::Function* const> candidates) {
    llvm::IRBuilder<> at(llvm::BasicBlock::Create(made_->getContext(), "", made_));
    if (candidates.size() == 1) return call(at, *candidates.front());
    std::size_t const middle = candidates.size() / 2;
    llvm::Value* const is_below = at.CreateICmpULT(made_->getArg(0), candidates[middle]);
    // The blocks of each half are appended when it is written.
    llvm::BasicBlock* const from = at.GetInsertBlock();
    choose(candidates.first(middle));
    llvm::BasicBlock* const below = from->getNextNode();
    llvm::BasicBlock* const last = &made_->back();
    choose(candidates.subspan(middle));
    at.CreateCondBr(is_below, below, last->getNextNode());
  }
  void call(llvm::IRBuilder<>& at, llvm::Function& callee) {
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& a : llvm::drop_begin(made_->args())) arguments.push_back(&a);
    require(at, at.CreateICmpEQ(made_->getArg(0), &callee));
    llvm::CallInst* const made = at.CreateCall(&type_, &callee, arguments);
    if (!is_supported(*made)) {
      require(at, at.getFalse());
      made->replaceAllUsesWith(llvm::PoisonValue::get(made->getType()));
      made->eraseFromParent();
      end(at, nullptr);
    } else
      end(at, made);
  }
  void require(llvm::IRBuilder<>& at, llvm::Value* holds) {
    at.CreateCall(requirement_in(*made_->getParent()), {holds, at.getFalse()});
  }
  void end(llvm::IRBuilder<>& at, llvm::Value* result) {
    if (type_.getReturnType()->isVoidTy())
      at.CreateRetVoid();
    else
      at.CreateRet(result ? result : llvm::Constant::getNullValue(type_.getReturnType()));
  }

  llvm::FunctionType& type_;
  llvm::Function* made_;
};

// Virtual tables are read by addresses without alias information: it becomes that of pointers to the tables, which a constructor stores.
class table_loads {
public:
  explicit table_loads(llvm::Function& f) {
    for (llvm::Instruction& i : llvm::instructions(f))
      if (auto* const store = llvm::dyn_cast<llvm::StoreInst>(&i)) add_source(*store);
    for (llvm::Instruction& i : llvm::instructions(f))
      if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(&i); load && !tag_of(*load))
        if (llvm::MDNode* const tag = tag_of_table(load->getPointerOperand()))
          load->setMetadata(llvm::LLVMContext::MD_tbaa, tag);
  }

private:
  static llvm::MDNode* tag_of(llvm::Instruction const& i) {
    return i.getMetadata(llvm::LLVMContext::MD_tbaa);
  }
  static bool is_of_table(llvm::MDNode const* tag) { return accessed_type(tag) == "vtable pointer"; }
  // A constructor of a class with virtual bases reads its table from another one.
  static void add_source(llvm::StoreInst const& store) {
    auto* const load = llvm::dyn_cast<llvm::LoadInst>(const_cast<llvm::Value*>(store.getValueOperand()));
    if (load && !tag_of(*load) && is_of_table(tag_of(store)))
      load->setMetadata(llvm::LLVMContext::MD_tbaa, tag_of(store));
  }
  // The tag, if the address is in a virtual table.
  static llvm::MDNode* tag_of_table(llvm::Value const* address) {
    std::vector<llvm::Value const*> pending{address};
    llvm::SmallPtrSet<llvm::Value const*, 8> seen;
    llvm::MDNode* tag = nullptr;
    while (!pending.empty()) {
      llvm::Value const* v = pending.back();
      pending.pop_back();
      while (auto const* part = llvm::dyn_cast<llvm::GEPOperator>(v)) v = part->getPointerOperand();
      if (!seen.insert(v).second) continue;
      if (auto const* phi = llvm::dyn_cast<llvm::PHINode>(v))
        pending.insert(pending.end(), phi->op_begin(), phi->op_end());
      else if (auto const* select = llvm::dyn_cast<llvm::SelectInst>(v))
        pending.insert(pending.end(), {select->getTrueValue(), select->getFalseValue()});
      else if (auto const* load = llvm::dyn_cast<llvm::LoadInst>(v); load && is_of_table(tag_of(*load)))
        tag = tag_of(*load);
      else if (auto const* table = llvm::dyn_cast<llvm::GlobalVariable>(v); table && is_virtual_table(*table))
        tag = table_tag(table->getContext());
      else
        return nullptr;
    }
    return tag;
  }
  static llvm::MDNode* table_tag(llvm::LLVMContext& context) {
    llvm::MDBuilder builder(context);
    llvm::MDNode* const type =
        builder.createTBAAScalarTypeNode("vtable pointer", builder.createTBAARoot("virtual tables"));
    return builder.createTBAAStructTagNode(type, type, 0);
  }
};

} // namespace

std::vector<llvm::Function const*> functions_with_address(llvm::Module const& m) {
  std::vector<llvm::Function const*> all;
  for (llvm::Function const& f : m)
    if (!f.isIntrinsic() && llvm::any_of(f.uses(), uses_address)) all.push_back(&f);
  return all;
}

void resolve_indirect_calls(llvm::Module& m) {
  llvm::MapVector<llvm::FunctionType*, std::vector<llvm::CallBase*>> calls;
  for (llvm::Function& f : m) {
    table_loads{f};
    for (llvm::Instruction& i : llvm::instructions(f))
      if (auto* const call = llvm::dyn_cast<llvm::CallInst>(&i);
          call && call->isIndirectCall() && !call->getFunctionType()->isVarArg())
        calls[call->getFunctionType()].push_back(call);
  }
  if (calls.empty()) return;
  llvm::DenseMap<llvm::FunctionType*, std::vector<llvm::Function*>> functions;
  for (llvm::Function const* f : functions_with_address(m))
    functions[f->getFunctionType()].push_back(const_cast<llvm::Function*>(f));
  for (auto const& [type, of_type] : calls) {
    auto const candidates = functions.find(type);
    if (candidates == functions.end()) continue;
    llvm::Function* const dispatcher = dispatcher_writer(m, *type).write(candidates->second);
    for (llvm::CallBase* const call : of_type) {
      std::vector<llvm::Value*> arguments{call->getCalledOperand()};
      arguments.insert(arguments.end(), call->arg_begin(), call->arg_end());
      llvm::IRBuilder<> at(call);
      llvm::CallInst* const direct = at.CreateCall(dispatcher, arguments);
      direct->setDebugLoc(call->getDebugLoc());
      call->replaceAllUsesWith(direct);
      call->eraseFromParent();
    }
  }
}

bool is_dispatcher(llvm::Function const& f) { return f.hasFnAttribute(mark); }

} // namespace overdub::lifting
