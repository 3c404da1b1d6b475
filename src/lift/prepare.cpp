#include "prepare.hpp"

#include "complex_numbers.hpp"
#include "exceptions.hpp"
#include "float_pairs.hpp"
#include "indirect_calls.hpp"
#include "inline_calls.hpp"
#include "linear_memory.hpp"
#include "values.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/BreakCriticalEdges.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace overdub::lifting {
namespace {

// A number that memory holds as another type of the same width is loaded and stored as itself: copies of structs have that form.
void access_as_used(llvm::Function& f) {
  for (llvm::BasicBlock& b : f)
    for (llvm::Instruction& i : llvm::make_early_inc_range(b)) {
      auto* const cast = llvm::dyn_cast<llvm::BitCastInst>(&i);
      if (!cast || cast->getType()->isPointerTy() || is_sign_test(*cast)) continue;
      if (auto* const constant = llvm::dyn_cast<llvm::Constant>(cast->getOperand(0))) {
        cast->replaceAllUsesWith(llvm::ConstantExpr::getBitCast(constant, cast->getType()));
        cast->eraseFromParent();
        continue;
      }
      if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(cast->getOperand(0));
          load && load->hasOneUse() && load->isSimple()) {
        llvm::IRBuilder<> at(load);
        auto* const typed =
            at.CreateAlignedLoad(cast->getType(), load->getPointerOperand(), load->getAlign());
        typed->setDebugLoc(load->getDebugLoc());
        cast->replaceAllUsesWith(typed);
        cast->eraseFromParent();
        load->eraseFromParent();
      } else if (cast->hasOneUse()) {
        auto* const store = llvm::dyn_cast<llvm::StoreInst>(*cast->user_begin());
        if (!store || store->getValueOperand() != cast || !store->isSimple()) continue;
        store->setOperand(0, cast->getOperand(0));
        cast->eraseFromParent();
      }
    }
}

// Flags of -ffast-math are dropped, so that no pass makes use of them.
void drop_fast_math(llvm::Function& f) {
  for (llvm::Instruction& i : llvm::instructions(f))
    if (llvm::isa<llvm::FPMathOperator>(i)) i.copyFastMathFlags(llvm::FastMathFlags());
}

// The load of the same pointer at the end of the only predecessor, if nothing is written in between.
llvm::LoadInst* earlier_load(llvm::LoadInst const& load) {
  llvm::BasicBlock const* const before = load.getParent()->getSinglePredecessor();
  if (!before || !load.isSimple()) return nullptr;
  for (llvm::Instruction const* i = load.getPrevNode(); i; i = i->getPrevNode())
    if (i->mayWriteToMemory()) return nullptr;
  for (llvm::Instruction const* i = before->getTerminator(); i && !i->mayWriteToMemory();
       i = i->getPrevNode())
    if (auto const* earlier = llvm::dyn_cast<llvm::LoadInst>(i))
      if (earlier->isSimple() && earlier->getPointerOperand() == load.getPointerOperand() &&
          earlier->getType() == load.getType())
        return const_cast<llvm::LoadInst*>(earlier);
  return nullptr;
}

// A load from one of several pointers that predecessors select becomes a load in each predecessor, so that its array is known there.
// Predecessors have one successor, and nothing is loaded that was not loaded before. Returns whether there was one.
bool load_in_predecessors(llvm::Function& f) {
  constexpr std::size_t most = 1000;
  std::vector<llvm::LoadInst*> loads;
  auto const note = [&](llvm::Instruction& i) {
    auto* const load = llvm::dyn_cast<llvm::LoadInst>(&i);
    auto* const phi = load ? llvm::dyn_cast<llvm::PHINode>(load->getPointerOperand()) : nullptr;
    if (!phi || phi->getParent() != load->getParent() || !load->isSimple()) return;
    for (llvm::Instruction* before = load->getPrevNode(); before; before = before->getPrevNode())
      if (before->mayWriteToMemory()) return;
    for (llvm::BasicBlock* const from : phi->blocks())
      if (!from->getSingleSuccessor()) return;
    loads.push_back(load);
  };
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) {
    auto* const load = llvm::dyn_cast<llvm::LoadInst>(&i);
    if (!load || !llvm::isa<llvm::PHINode>(load->getPointerOperand())) continue;
    if (llvm::LoadInst* const earlier = earlier_load(*load)) {
      load->replaceAllUsesWith(earlier);
      load->eraseFromParent();
    }
  }
  for (llvm::Instruction& i : llvm::instructions(f)) note(i);
  for (std::size_t at = 0; at < loads.size() && at < most; ++at) {
    llvm::LoadInst* const load = loads[at];
    auto* const pointers = llvm::cast<llvm::PHINode>(load->getPointerOperand());
    auto* const numbers =
        llvm::PHINode::Create(load->getType(), pointers->getNumIncomingValues(), "", pointers);
    for (unsigned i = 0; i < pointers->getNumIncomingValues(); ++i) {
      llvm::BasicBlock* const from = pointers->getIncomingBlock(i);
      llvm::Value* number = nullptr;
      for (unsigned k = 0; k < i && !number; ++k) // two arcs from one block
        if (pointers->getIncomingBlock(k) == from) number = numbers->getIncomingValue(k);
      if (!number) {
        llvm::IRBuilder<> end(from->getTerminator());
        auto* const moved =
            end.CreateAlignedLoad(load->getType(), pointers->getIncomingValue(i), load->getAlign());
        moved->copyMetadata(*load);
        note(*moved);
        number = moved;
      }
      numbers->addIncoming(number, from);
    }
    load->replaceAllUsesWith(numbers);
    load->eraseFromParent();
    if (pointers->use_empty()) pointers->eraseFromParent();
  }
  return !loads.empty();
}

// The scalar type at an offset of a type; none if there is none.
llvm::Type* scalar_at(llvm::Type* t, std::uint64_t offset, llvm::DataLayout const& layout) {
  if (auto* const structure = llvm::dyn_cast<llvm::StructType>(t)) {
    if (structure->getNumElements() == 0 || offset >= layout.getTypeAllocSize(t)) return nullptr;
    llvm::StructLayout const& fields = *layout.getStructLayout(structure);
    unsigned const i = fields.getElementContainingOffset(offset);
    return scalar_at(
        structure->getElementType(i), offset - std::uint64_t(fields.getElementOffset(i)), layout);
  }
  if (auto* const array = llvm::dyn_cast<llvm::ArrayType>(t)) {
    std::uint64_t const size = layout.getTypeAllocSize(array->getElementType());
    if (size == 0 || offset >= size * array->getNumElements()) return nullptr;
    return scalar_at(array->getElementType(), offset % size, layout);
  }
  return offset == 0 ? t : nullptr;
}
// Alias information of a scalar type.
llvm::MDNode* tag_of(llvm::Type* t, llvm::LLVMContext& context) {
  llvm::MDBuilder builder(context);
  std::string name;
  llvm::raw_string_ostream(name) << *t;
  llvm::MDNode* const type =
      builder.createTBAAScalarTypeNode("declared " + name, builder.createTBAARoot("declared types"));
  return builder.createTBAAStructTagNode(type, type, 0);
}

// A struct that is passed by value in memory is copied by the function that it is passed to.
void copy_structs_by_value(llvm::Function& f) {
  constexpr std::uint64_t most_bytes = 512;
  llvm::DataLayout const& layout = f.getParent()->getDataLayout();
  for (llvm::Argument& a : f.args()) {
    if (!a.hasByValAttr()) continue;
    llvm::Type* const type = a.getParamByValType();
    llvm::IRBuilder<> at(&*f.getEntryBlock().getFirstInsertionPt());
    auto* const local = at.CreateAlloca(type);
    a.replaceAllUsesWith(local);
    std::vector<scalar_in_type> scalars;
    std::uint64_t const bytes = layout.getTypeAllocSize(type).getFixedValue();
    if (bytes <= most_bytes) scalars = scalars_of(type, layout);
    if (scalars.empty()) at.CreateMemCpy(local, a.getParamAlign(), &a, a.getParamAlign(), bytes);
    for (auto const& [scalar, offset] : scalars) {
      llvm::Align const align = layout.getABITypeAlign(scalar);
      auto* const x = at.CreateAlignedLoad(scalar, at.CreateConstGEP1_64(at.getInt8Ty(), &a, offset), align);
      x->setMetadata(llvm::LLVMContext::MD_tbaa, tag_of(scalar, f.getContext()));
      at.CreateAlignedStore(x, at.CreateConstGEP1_64(at.getInt8Ty(), local, offset), align)
          ->setMetadata(llvm::LLVMContext::MD_tbaa, tag_of(scalar, f.getContext()));
    }
  }
}
// Where pointers point to in objects of a declared type: local variables, and structs that are passed or returned in memory. Each step of a
// chain of computations is visited once.
class places_in_objects {
public:
  struct place {
    llvm::Type* declared = nullptr; // the type of the object; none: another object, or an unknown offset
    llvm::APInt offset{64, 0};
  };

  explicit places_in_objects(llvm::DataLayout const& layout) : layout_(layout) {}

  place of(llvm::Value const* pointer) {
    std::vector<llvm::GEPOperator const*> steps;
    while (known_.count(pointer) == 0) {
      auto const* const step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
      llvm::APInt offset(64, 0);
      if (!step || !step->accumulateConstantOffset(layout_, offset)) break;
      steps.push_back(step);
      pointer = step->getPointerOperand();
    }
    place found;
    if (auto const at = known_.find(pointer); at != known_.end())
      found = at->second;
    else
      found.declared =
          declared_type(*pointer->stripAndAccumulateConstantOffsets(layout_, found.offset, true));
    for (; !steps.empty(); steps.pop_back()) {
      (void)steps.back()->accumulateConstantOffset(layout_, found.offset);
      known_.try_emplace(steps.back(), found);
    }
    return found;
  }

private:
  static llvm::Type* declared_type(llvm::Value const& object) {
    if (auto const* local = llvm::dyn_cast<llvm::AllocaInst>(&object)) return local->getAllocatedType();
    auto const* const a = llvm::dyn_cast<llvm::Argument>(&object);
    return a ? a->getPointeeInMemoryValueType() : nullptr;
  }

  llvm::DataLayout const& layout_;
  llvm::DenseMap<llvm::Value const*, place> known_;
};

// Parts of structs that are passed or returned by value are loaded and stored without alias information. Where they have the declared type,
// they get it.
void add_declared_types(llvm::Function& f) {
  llvm::DataLayout const& layout = f.getParent()->getDataLayout();
  places_in_objects places(layout);
  for (llvm::Instruction& i : llvm::instructions(f)) {
    llvm::Value const* const pointer = llvm::getLoadStorePointerOperand(&i);
    if (!pointer || i.getMetadata(llvm::LLVMContext::MD_tbaa)) continue;
    auto const [declared, offset] = places.of(pointer);
    llvm::Type* const accessed = llvm::getLoadStoreType(&i);
    if (declared && !offset.isNegative() && scalar_at(declared, offset.getZExtValue(), layout) == accessed)
      i.setMetadata(llvm::LLVMContext::MD_tbaa, tag_of(accessed, f.getContext()));
  }
}

// The number of elements that `new T[n]` stores before the elements, for the destructors that `delete[]` calls, has no alias information.
void add_types_of_counts(llvm::Function& f) {
  llvm::DataLayout const& layout = f.getParent()->getDataLayout();
  for (llvm::Instruction& i : llvm::instructions(f)) {
    llvm::Value const* const pointer = llvm::getLoadStorePointerOperand(&i);
    if (!pointer || !llvm::getLoadStoreType(&i)->isIntegerTy(64) || i.getMetadata(llvm::LLVMContext::MD_tbaa))
      continue;
    llvm::APInt offset(64, 0);
    auto const* const block =
        llvm::dyn_cast<llvm::CallBase>(pointer->stripAndAccumulateConstantOffsets(layout, offset, true));
    bool const is_stored =
        llvm::isa<llvm::StoreInst>(i) && block && allocation_of(*block) == allocation::allocate;
    bool const is_loaded = llvm::isa<llvm::LoadInst>(i) && offset.getSExtValue() == -8;
    if (is_stored || is_loaded)
      i.setMetadata(
          llvm::LLVMContext::MD_tbaa, tag_of(llvm::Type::getInt64Ty(f.getContext()), f.getContext()));
  }
}

constexpr llvm::StringLiteral part_of_struct = "overdub.part";

// Small integers of a struct are passed in one register: they are loaded and stored together as one wide integer. Here each is loaded and
// stored by its own type.
void split_wide_accesses(llvm::Function& f) {
  constexpr std::uint64_t most_bytes = 512;
  llvm::DataLayout const& layout = f.getParent()->getDataLayout();
  places_in_objects places(layout);
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) {
    llvm::Value* const pointer = llvm::getLoadStorePointerOperand(&i);
    if (!pointer || i.getMetadata(llvm::LLVMContext::MD_tbaa) || i.isVolatile()) continue;
    auto* const wide = llvm::dyn_cast<llvm::IntegerType>(llvm::getLoadStoreType(&i));
    auto const [declared, start] = places.of(pointer);
    if (!wide || wide->getBitWidth() > 64 || !declared || start.isNegative() || !declared->isStructTy() ||
        layout.getTypeAllocSize(declared) > most_bytes)
      continue;
    std::uint64_t const first = start.getZExtValue(), bytes = layout.getTypeStoreSize(wide);
    std::vector<scalar_in_type> parts;
    bool has_integers_alone = true;
    for (scalar_in_type const& part : scalars_of(declared, layout)) {
      std::uint64_t const end = part.offset + layout.getTypeStoreSize(part.type);
      if (end <= first || part.offset >= first + bytes) continue;
      has_integers_alone = has_integers_alone && part.type->isIntegerTy() && part.offset >= first &&
                           end <= first + bytes && part.type->getIntegerBitWidth() < wide->getBitWidth();
      parts.push_back(part);
    }
    if (parts.empty() || !has_integers_alone) continue;
    llvm::IRBuilder<> at(&i);
    auto* const store = llvm::dyn_cast<llvm::StoreInst>(&i);
    llvm::Value* all = llvm::ConstantInt::get(wide, 0);
    for (scalar_in_type const& part : parts) {
      llvm::Value* const address = at.CreateConstGEP1_64(at.getInt8Ty(), pointer, part.offset - first);
      llvm::Align const align = layout.getABITypeAlign(part.type);
      std::uint64_t const shift = 8 * (part.offset - first);
      llvm::Instruction* access = nullptr;
      if (store) {
        access = at.CreateAlignedStore(
            at.CreateTrunc(at.CreateLShr(store->getValueOperand(), shift), part.type), address, align);
      } else {
        access = at.CreateAlignedLoad(part.type, address, align);
        access->setMetadata(part_of_struct, llvm::MDNode::get(f.getContext(), {}));
        all = at.CreateOr(all, at.CreateShl(at.CreateZExt(access, wide), shift));
      }
      access->setMetadata(llvm::LLVMContext::MD_tbaa, tag_of(part.type, f.getContext()));
    }
    if (!store) i.replaceAllUsesWith(all);
    i.eraseFromParent();
  }
}
// A copy of a whole local variable, from or to an object with its alignment, copies the scalars of its type, as a trivial copy constructor
// does. A copy from bytes has no alignment.
void add_declared_copies(llvm::Function& f) {
  constexpr std::uint64_t most_bytes = 512;
  llvm::DataLayout const& layout = f.getParent()->getDataLayout();
  for (llvm::Instruction& i : llvm::instructions(f)) {
    auto* const copy = llvm::dyn_cast<llvm::MemCpyInst>(&i);
    auto const* const length = copy ? llvm::dyn_cast<llvm::ConstantInt>(copy->getLength()) : nullptr;
    if (!length || copy->getMetadata(llvm::LLVMContext::MD_tbaa_struct) ||
        copy->getMetadata(llvm::LLVMContext::MD_tbaa))
      continue;
    for (llvm::Value* const side : {copy->getRawDest(), copy->getRawSource()}) {
      auto const* const local = llvm::dyn_cast<llvm::AllocaInst>(side);
      if (!local || !local->getAllocatedType()->isStructTy()) continue;
      llvm::Type* const type = local->getAllocatedType();
      llvm::Align const align = layout.getABITypeAlign(type);
      if (layout.getTypeAllocSize(type) != length->getZExtValue() ||
          copy->getDestAlign().valueOrOne() < align || copy->getSourceAlign().valueOrOne() < align)
        continue;
      if (length->getZExtValue() > most_bytes) continue;
      std::vector<scalar_in_type> const scalars = scalars_of(type, layout);
      llvm::SmallVector<llvm::MDBuilder::TBAAStructField, 8> fields;
      for (auto const& [scalar, offset] : scalars)
        fields.emplace_back(offset, layout.getTypeStoreSize(scalar), tag_of(scalar, f.getContext()));
      copy->setMetadata(
          llvm::LLVMContext::MD_tbaa_struct, llvm::MDBuilder(f.getContext()).createTBAAStructNode(fields));
      break;
    }
  }
}

} // namespace

llvm::SmallPtrSet<llvm::BasicBlock*, 16> returning_blocks(llvm::Function& f) {
  llvm::SmallPtrSet<llvm::BasicBlock*, 16> all;
  std::vector<llvm::BasicBlock*> pending;
  auto const add = [&](llvm::BasicBlock* b) {
    if (all.insert(b).second) pending.push_back(b);
  };
  for (llvm::BasicBlock& b : f)
    if (llvm::isa<llvm::ReturnInst>(b.getTerminator())) add(&b);
  while (!pending.empty()) {
    llvm::BasicBlock* const b = pending.back();
    pending.pop_back();
    for (llvm::BasicBlock* const before : llvm::predecessors(b)) add(before);
  }
  return all;
}

namespace {

// The abort calls of the code that begins with a block and does not return; nothing if that code may run forever, or is long.
std::optional<std::vector<llvm::Instruction*>> failing_calls(llvm::BasicBlock& first) {
  constexpr std::size_t most_blocks = 16;
  std::vector<llvm::Instruction*> calls;
  std::vector<std::pair<llvm::BasicBlock*, bool>> pending{{&first, false}};
  llvm::SmallPtrSet<llvm::BasicBlock*, 16> open, done;
  while (!pending.empty()) {
    auto const [b, is_done] = pending.back();
    pending.pop_back();
    if (is_done) {
      open.erase(b);
      done.insert(b);
      continue;
    }
    if (open.contains(b) || done.size() > most_blocks) return {};
    if (done.contains(b)) continue;
    open.insert(b);
    pending.emplace_back(b, true);
    for (llvm::Instruction& i : *b)
      if (auto* const call = llvm::dyn_cast<llvm::CallBase>(&i); call && is_abort(*call))
        calls.push_back(call);
    for (llvm::BasicBlock* const next : llvm::successors(b)) pending.emplace_back(next, false);
  }
  return calls;
}

// A branch to code that only fails, as to a throw, requires the other condition. So a check does not divide the code that follows it, and
// a loop with a check is counted.
constexpr llvm::StringLiteral requirement = "overdub.require";
void require_conditions(llvm::Function& f) {
  llvm::SmallPtrSet<llvm::BasicBlock*, 16> const returning = returning_blocks(f);
  bool changes = false;
  for (llvm::BasicBlock& b : f) {
    auto* const branch = llvm::dyn_cast<llvm::BranchInst>(b.getTerminator());
    if (!branch || !branch->isConditional() || !returning.contains(&b)) continue;
    unsigned const failing = returning.contains(branch->getSuccessor(0)) ? 1 : 0;
    llvm::BasicBlock *const fails = branch->getSuccessor(failing), *const next =
                                                                       branch->getSuccessor(1 - failing);
    if (returning.contains(fails)) continue;
    auto const calls = failing_calls(*fails);
    if (!calls) continue;
    llvm::IRBuilder<> at(branch);
    if (!calls->empty()) at.SetCurrentDebugLocation(calls->front()->getDebugLoc());
    llvm::Value* const condition = branch->getCondition();
    at.CreateCall(
        requirement_in(*f.getParent()),
        {failing == 0 ? at.CreateNot(condition) : condition, at.getInt1(!calls->empty())});
    at.CreateBr(next);
    fails->removePredecessor(&b);
    branch->eraseFromParent();
    changes = true;
  }
  if (changes) llvm::removeUnreachableBlocks(f);
}

// What throws is an error of the program. Therefore a call whose exceptions the function does not end with an ordinary return becomes a call
// without clean-up, and nothing follows a call that begins to throw. A function with a handler that may return keeps its handlers, and is
// refused.
void remove_clean_up(llvm::Function& f) {
  std::vector<llvm::InvokeInst*> invokes;
  for (llvm::BasicBlock& b : f)
    if (auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(b.getTerminator())) invokes.push_back(invoke);
  llvm::SmallPtrSet<llvm::BasicBlock*, 16> const returning = returning_blocks(f);
  bool catches = false;
  for (llvm::InvokeInst* const invoke : invokes)
    if (returning.contains(invoke->getUnwindDest()))
      catches = true;
    else
      llvm::changeToCall(invoke);
  if (catches) return;
  for (llvm::BasicBlock& b : f)
    for (llvm::Instruction& i : b)
      if (auto* const call = llvm::dyn_cast<llvm::CallInst>(&i); call && is_abort(*call)) {
        llvm::changeToUnreachable(call->getNextNode());
        break;
      }
}

// Structs in registers: the scalars of a result are inserted before the return, and extracted after the call.
void split_results(llvm::Function& f) {
  std::vector<llvm::Instruction*> work;
  for (llvm::Instruction& i : llvm::instructions(f))
    if ((llvm::isa<llvm::CallInst>(i) && i.getType()->isStructTy()) ||
        (llvm::isa<llvm::ReturnInst>(i) && f.getReturnType()->isStructTy()))
      work.push_back(&i);
  for (llvm::Instruction* const i : work) {
    if (llvm::isa<llvm::ReturnInst>(i)) {
      llvm::Value* const before = i->getOperand(0);
      llvm::IRBuilder<> at(i);
      llvm::Value* all = llvm::PoisonValue::get(before->getType());
      for (unsigned k = 0; k < before->getType()->getStructNumElements(); ++k) {
        llvm::Value* const x = llvm::FindInsertedValue(before, {k});
        all = at.CreateInsertValue(all, x ? x : at.CreateExtractValue(before, {k}), {k});
      }
      i->setOperand(0, all);
      continue;
    }
    for (llvm::User* const u : i->users())
      if (auto* const part = llvm::dyn_cast<llvm::ExtractValueInst>(u); part && part->getNumIndices() == 1)
        part->moveAfter(i);
  }
}

// What clang calls where an exception would leave a noexcept function, which is an error of the run: nothing calls it now.
void erase_terminations(llvm::Module& m) {
  for (llvm::Function& f : llvm::make_early_inc_range(m))
    if (f.use_empty() && f.isDiscardableIfUnused() && f.doesNotReturn()) f.eraseFromParent();
}

// Padding of structs that are passed by value is stored as an undefined number.
void erase_undefined_stores(llvm::Function& f) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f)))
    if (auto const* store = llvm::dyn_cast<llvm::StoreInst>(&i);
        store && store->isSimple() && llvm::isa<llvm::UndefValue>(store->getValueOperand()))
      i.eraseFromParent();
}

// The parts of a struct that a function makes in registers, as the result of a call that was inlined.
void fold_parts(llvm::Function& f) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f)))
    if (auto* const part = llvm::dyn_cast<llvm::ExtractValueInst>(&i))
      if (llvm::Value* const x = llvm::FindInsertedValue(part->getAggregateOperand(), part->getIndices())) {
        part->replaceAllUsesWith(x);
        part->eraseFromParent();
      }
}

// The address of a constant as a number, as in a difference of pointers, becomes an instruction.
void expand_constant_addresses(llvm::Function& f) {
  for (llvm::Instruction& i : llvm::instructions(f)) {
    if (llvm::isa<llvm::PHINode>(i)) continue;
    for (llvm::Use& u : i.operands())
      if (auto* const c = llvm::dyn_cast<llvm::ConstantExpr>(u.get());
          c && c->getOpcode() == llvm::Instruction::PtrToInt) {
        llvm::Instruction* const made = c->getAsInstruction();
        made->insertBefore(&i);
        u.set(made);
      }
  }
}

// __builtin_constant_p may be false.
void resolve_constant_tests(llvm::Function& f) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f)))
    if (auto* const test = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        test && test->getIntrinsicID() == llvm::Intrinsic::is_constant) {
      test->replaceAllUsesWith(llvm::ConstantInt::getFalse(f.getContext()));
      test->eraseFromParent();
    }
}

// A product or sum of unsigned integers and whether it overflows, as of the size of an array, becomes operations on numbers.
void expand_overflow(llvm::Function& f) {
  std::vector<llvm::IntrinsicInst*> all;
  for (llvm::Instruction& i : llvm::instructions(f)) {
    auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (!call) continue;
    if (call->getIntrinsicID() == llvm::Intrinsic::uadd_with_overflow) all.push_back(call);
    if (call->getIntrinsicID() != llvm::Intrinsic::umul_with_overflow) continue;
    auto const* const factor = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(1));
    if (factor && !factor->isZero()) all.push_back(call);
  }
  for (llvm::IntrinsicInst* const call : all) {
    llvm::Value *const x = call->getArgOperand(0), *const y = call->getArgOperand(1);
    llvm::IRBuilder<> at(call);
    bool const is_sum = call->getIntrinsicID() == llvm::Intrinsic::uadd_with_overflow;
    llvm::Value* const number = is_sum ? at.CreateAdd(x, y) : at.CreateMul(x, y);
    llvm::Value* const overflows =
        is_sum ? at.CreateICmpULT(number, x)
               : at.CreateICmpUGT(x, at.CreateUDiv(llvm::Constant::getAllOnesValue(x->getType()), y));
    for (llvm::User* const u : llvm::make_early_inc_range(call->users()))
      if (auto* const part = llvm::dyn_cast<llvm::ExtractValueInst>(u)) {
        part->replaceAllUsesWith(part->getIndices().front() == 0 ? number : overflows);
        part->eraseFromParent();
      }
    if (call->use_empty()) call->eraseFromParent();
  }
}

llvm::SROAPass promotion() {
#if LLVM_VERSION_MAJOR >= 16
  return llvm::SROAPass(llvm::SROAOptions::ModifyCFG);
#else
  return llvm::SROAPass();
#endif
}

} // namespace

bool is_part_of_struct(llvm::LoadInst const& i) {
  return i.getMetadata(part_of_struct) || (!i.use_empty() && llvm::all_of(i.users(), [](llvm::User const* u) {
           return llvm::isa<llvm::InsertValueInst>(u);
         }));
}

bool is_requirement(llvm::CallBase const& call) {
  llvm::Function const* const callee = call.getCalledFunction();
  return callee && callee->isDeclaration() && callee->getName() == requirement && call.arg_size() == 2;
}
llvm::FunctionCallee requirement_in(llvm::Module& m) {
  llvm::Type* const is = llvm::Type::getInt1Ty(m.getContext());
  return m.getOrInsertFunction(requirement, llvm::Type::getVoidTy(m.getContext()), is, is);
}

void prepare(llvm::Module& m) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager promotes, passes;
  promotes.addPass(promotion());
  promotes.addPass(llvm::BreakCriticalEdgesPass());
  passes.addPass(llvm::DCEPass());
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::BreakCriticalEdgesPass());
  // A constructor of a class without virtual bases is an alias.
  for (llvm::GlobalAlias& a : m.aliases())
    if (!a.isInterposable()) a.replaceAllUsesWith(a.getAliasee());
  split_float_pairs(m);
  define_complex_functions(m);
  resolve_exceptions(m);
  for (llvm::Function& f : m) {
    if (f.isDeclaration()) continue;
    copy_structs_by_value(f);
    add_types_of_counts(f);
    add_declared_types(f);
    split_wide_accesses(f);
    add_declared_copies(f);
    remove_clean_up(f);
    drop_fast_math(f);
    llvm::removeUnreachableBlocks(f);
    promotes.run(f, functions);
    functions.clear(f, f.getName());
  }
  inline_calls(m);
  for (llvm::Function& f : m) {
    if (f.isDeclaration()) continue;
    add_declared_types(f);
    add_declared_copies(f);
    erase_undefined_stores(f);
    expand_constant_addresses(f);
    resolve_constant_tests(f);
    expand_overflow(f);
    promotes.run(f, functions);
    if (unroll_over_local_arrays(f, functions)) promotes.run(f, functions);
    if (load_in_predecessors(f)) {
      functions.clear(f, f.getName());
      promotes.run(f, functions);
    }
  }
  erase_terminations(m);
  resolve_indirect_calls(m);
  for (llvm::Function& f : m) {
    if (f.isDeclaration()) continue;
    erase_undefined_stores(f);
    fold_parts(f);
    split_results(f);
    passes.run(f, functions);
    require_conditions(f);
    access_as_used(f);
    add_declared_types(f);
    llvm::removeUnreachableBlocks(f);
    functions.clear(f, f.getName());
  }
}

} // namespace overdub::lifting
