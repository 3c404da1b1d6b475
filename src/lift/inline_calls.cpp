#include "inline_calls.hpp"

#include "callees_first.hpp"
#include "linear_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <utility>
#include <vector>

namespace overdub::lifting {
namespace {

// ---- calls

// Whether all scalars of a local variable have one type. Such a variable can become scalars in registers, or an array. Of other variables,
// one register may hold several scalars.
bool has_one_scalar_type(llvm::AllocaInst const& local) {
  auto const all = scalars_of(local.getAllocatedType(), local.getModule()->getDataLayout());
  return std::all_of(
      all.begin(), all.end(), [&](scalar_in_type const& one) { return one.type == all[0].type; });
}

// Whether an argument is a part of an array, a local array, an array that is passed twice, or a pointer that is loaded from a local
// variable. A call would copy these. False if an argument points to a local variable whose scalars have different types.
bool passes_copied_array(llvm::CallBase const& call) {
  llvm::SmallVector<llvm::Value const*, 8> seen;
  bool found = false;
  for (llvm::Value const* argument : call.args()) {
    if (!argument->getType()->isPointerTy()) continue;
    llvm::Value const* const start = argument->stripPointerCasts();
    llvm::Value const* const array = llvm::getUnderlyingObject(start, 0);
    auto const* const local = llvm::dyn_cast<llvm::AllocaInst>(array);
    if (local && !has_one_scalar_type(*local)) return false;
    // A pointer in a local variable, as that of a std::vector, will be in a register.
    auto const* const loaded = llvm::dyn_cast<llvm::LoadInst>(array);
    bool const is_local_pointer =
        loaded && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(loaded->getPointerOperand(), 0));
    bool const is_part =
        start != array || llvm::isa<llvm::PHINode>(array) || llvm::isa<llvm::SelectInst>(array);
    found = found || is_part || is_local_pointer || local || llvm::is_contained(seen, array);
    if (!llvm::isa<llvm::Constant>(array)) seen.push_back(array);
  }
  return found;
}

class inliner {
public:
  explicit inliner(llvm::Module& m) {
    std::vector<llvm::Function*> all;
    for (llvm::Function& f : m) all.push_back(&f);
    order_ = callees_first(all);
    for (std::size_t k = 0; k < order_.size(); ++k) position_[order_[k]] = k;
    for (llvm::Function* const f : order_)
      if (llvm::any_of(llvm::instructions(*f), [&](llvm::Instruction const& i) {
            auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
            auto const callee = call ? position_.find(call->getCalledFunction()) : position_.end();
            return callee != position_.end() && callee->second >= position_[f];
          }))
        recursive_.insert(f);
  }

  void run() {
    for (llvm::Function* const f : order_) inline_into(*f);
  }

private:
  static constexpr unsigned most_instructions = 300, most_calls = 400, most_growth = 3000;

  void inline_into(llvm::Function& f) {
    std::vector<llvm::WeakTrackingVH>
        calls; // weak: inlining a callee that does not return deletes the code after the call
    for (llvm::Instruction& i : llvm::instructions(f))
      if (auto* const call = llvm::dyn_cast<llvm::CallBase>(&i); call && is_inlined(*call))
        calls.emplace_back(call);
    unsigned growth = 0;
    for (std::size_t at = 0; at < calls.size() && at < most_calls; ++at) {
      llvm::Value* const noted = calls[at];
      auto* const call = llvm::dyn_cast_or_null<llvm::CallBase>(noted);
      if (!call) continue;
      unsigned const size = call->getCalledFunction()->getInstructionCount();
      if (growth + size > most_growth) continue;
      growth += size;
      llvm::InlineFunctionInfo info;
      if (!llvm::InlineFunction(*call, info).isSuccess()) continue;
      for (llvm::CallBase* const inner : info.InlinedCallSites)
        if (is_inlined(*inner)) calls.emplace_back(inner);
    }
  }
  // Callees come before their callers in `order_`. One that does not is part of a recursive cycle, and is not inlined: neither into the
  // cycle, nor into a caller outside, where its calls of itself would be inlined again and again.
  bool is_inlined(llvm::CallBase const& call) const {
    llvm::Function const* const callee = call.getCalledFunction();
    if (!callee || callee->isDeclaration() || callee->isInterposable()) return false;
    auto const before = position_.find(callee), now = position_.find(call.getFunction());
    if (before == position_.end() || now == position_.end() || before->second >= now->second) return false;
    if (recursive_.contains(callee)) return false;
    // A struct that is passed by value would be copied as bytes.
    if (callee->getInstructionCount() > most_instructions || call.hasByValArgument()) return false;
    return callee->getReturnType()->isPointerTy() || passes_copied_array(call);
  }

  std::vector<llvm::Function*> order_;
  llvm::DenseMap<llvm::Function const*, std::size_t> position_;
  llvm::DenseSet<llvm::Function const*>
      recursive_; // that call themselves, or a function after them in `order_`
};

// ---- loops over local arrays

constexpr std::uint64_t most_bytes_of_local = 512;
constexpr unsigned most_iterations = 16;

// Whether an element of a small local array is selected by the index of a loop.
bool selects_element(
    llvm::GEPOperator const& gep, llvm::Loop const& loop, llvm::ScalarEvolution& evolution,
    llvm::DataLayout const& layout) {
  auto const* const local = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(&gep, 0));
  if (!local || !local->isStaticAlloca() ||
      layout.getTypeAllocSize(local->getAllocatedType()) > most_bytes_of_local)
    return false;
  return std::any_of(gep.idx_begin(), gep.idx_end(), [&](llvm::Use const& index) {
    return llvm::SCEVExprContains(evolution.getSCEV(index.get()), [&](llvm::SCEV const* part) {
      auto const* const counter = llvm::dyn_cast<llvm::SCEVAddRecExpr>(part);
      return counter && counter->getLoop() == &loop;
    });
  });
}

bool should_unroll(llvm::Loop const& loop, llvm::ScalarEvolution& evolution, llvm::DataLayout const& layout) {
  unsigned const known = evolution.getSmallConstantMaxTripCount(const_cast<llvm::Loop*>(&loop));
  if (known > most_iterations + 1) return false;
  return std::any_of(loop.block_begin(), loop.block_end(), [&](llvm::BasicBlock const* b) {
    return std::any_of(b->begin(), b->end(), [&](llvm::Instruction const& i) {
      auto const* const gep = llvm::dyn_cast<llvm::GEPOperator>(&i);
      return gep && selects_element(*gep, loop, evolution, layout);
    });
  });
}

// Replaces llvm.loop.unroll.disable, with which clang -O1 marks loops.
void request_unrolling(llvm::Loop& loop) {
  llvm::LLVMContext& context = loop.getHeader()->getContext();
  llvm::MDNode* const full =
      llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.full"));
  loop.setLoopID(
      llvm::makePostTransformationMetadata(context, loop.getLoopID(), {"llvm.loop.unroll."}, {full}));
}

} // namespace

void inline_calls(llvm::Module& m) { inliner(m).run(); }

bool unroll_over_local_arrays(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  auto const is_local_variable = [](llvm::Instruction const& i) { return llvm::isa<llvm::AllocaInst>(i); };
  if (std::none_of(llvm::inst_begin(f), llvm::inst_end(f), is_local_variable)) return false;
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
  bool found = false;
  for (llvm::Loop* const loop : analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder())
    if (loop->getLoopLatch() && should_unroll(*loop, evolution, f.getParent()->getDataLayout())) {
      request_unrolling(*loop);
      found = true;
    }
  if (!found) return false;
  llvm::FunctionPassManager pass;
  pass.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass(2, true)));
  pass.run(f, analyses);
  return true;
}

} // namespace overdub::lifting
