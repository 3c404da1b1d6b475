#include "outlining.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>
#include <map>
#include <utility>
#include <vector>

namespace overdub::jit {
namespace {

using namespace llvm;

constexpr std::size_t maximum_calls = 2000;                           // more are split
constexpr std::size_t part_calls = 500, part_instructions = 2000;     // maximum, of a part
constexpr std::size_t minimum_calls = 50, minimum_instructions = 500; // a part has at least one of them

bool is_call(Instruction const& i) { return isa<CallBase>(i) && !isa<IntrinsicInst>(i); }
std::size_t calls_in(Function& f) {
  return static_cast<std::size_t>(count_if(instructions(f), [](Instruction const& i) { return is_call(i); }));
}

// Whether a block ends in a throw.
bool fails(BasicBlock const& b) { return isa<UnreachableInst>(b.getTerminator()); }
// The only successor of a block that does not throw, if there is one.
BasicBlock* next_of(BasicBlock& b) {
  auto* const branch = dyn_cast<BranchInst>(b.getTerminator());
  if (branch == nullptr) return nullptr;
  BasicBlock* next = nullptr;
  for (BasicBlock* const to : branch->successors()) {
    if (fails(*to)) continue;
    if (next != nullptr && next != to) return nullptr;
    next = to;
  }
  return next == &b ? nullptr : next;
}

class outliner {
public:
  explicit outliner(Function& f) : f_(f), layout_(f.getParent()->getDataLayout()) {}

  void run() {
    remove_lifetimes();
    split_blocks();
    find_parts();
    if (parts_.empty()) return;
    for (part& each : parts_) copy_failures(each);
    find_crossing();
    make_functions();
    pass_through_memory();
    move_blocks();
  }

private:
  struct part {
    std::vector<BasicBlock*> blocks;
    BasicBlock* next = nullptr; // in the remaining function
    Function* made = nullptr;
    BasicBlock* call = nullptr;
  };
  static constexpr std::size_t none = ~std::size_t{0};

  // Lifetime markers would not cover uses in other functions.
  void remove_lifetimes() {
    for (Instruction& i : make_early_inc_range(instructions(f_)))
      if (auto* const marker = dyn_cast<IntrinsicInst>(&i);
          marker != nullptr && marker->isLifetimeStartOrEnd())
        marker->eraseFromParent();
  }

  void split_blocks() {
    std::vector<BasicBlock*> all;
    for (BasicBlock& b : f_) all.push_back(&b);
    for (BasicBlock* const b : all) {
      if (b->isEHPad()) continue;
      SmallVector<Instruction*, 16> cuts;
      Instruction* first = b->getFirstNonPHI();
      for (Instruction& i : *b) // static allocas stay in the first block
        if (isa<AllocaInst>(i)) first = i.getNextNode();
      std::size_t calls = 0, count = part_instructions; // the first cut is before
      for (Instruction* i = first; !i->isTerminator(); i = i->getNextNode()) {
        if (count++ >= part_instructions || calls >= part_calls) {
          cuts.push_back(i);
          calls = count = 0;
        }
        calls += is_call(*i);
      }
      if (cuts.size() > 1) split_block(cuts);
    }
  }

  bool is_eligible(BasicBlock& b) const {
    return !b.isEntryBlock() && !b.isEHPad() && !isa<PHINode>(b.front()) && next_of(b) != nullptr &&
           none_of(b, [](Instruction const& i) { return isa<AllocaInst>(i); });
  }

  void find_parts() {
    DenseMap<BasicBlock*, BasicBlock*> follows; // chains of blocks
    for (BasicBlock& b : f_)
      if (is_eligible(b)) follows[&b] = next_of(b);
    auto const comes_before = [&](BasicBlock* b) {
      auto const at = follows.find(b->getUniquePredecessor());
      return at != follows.end() && at->second == b;
    };
    for (BasicBlock& start : f_) {
      if (follows.count(&start) == 0 || comes_before(&start)) continue;
      part now;
      std::size_t calls = 0, count = 0;
      auto const finish = [&] {
        if (calls >= minimum_calls || count >= minimum_instructions) parts_.push_back(now);
        now = {};
        calls = count = 0;
      };
      for (BasicBlock* b = &start;;) {
        auto const more = static_cast<std::size_t>(count_if(*b, is_call));
        if (!now.blocks.empty() && (calls + more > part_calls || count + b->size() > part_instructions))
          finish();
        now.blocks.push_back(b);
        BasicBlock* const next = now.next = follows[b];
        calls += more;
        count += b->size();
        if (next == &start || follows.count(next) == 0 || next->getUniquePredecessor() != b) break;
        b = next;
      }
      finish();
    }
    for (std::size_t k = 0; k < parts_.size(); ++k)
      for (BasicBlock* const b : parts_[k].blocks) part_of_[b] = k;
  }

  // Shared throwing blocks are copied into each part.
  void copy_failures(part& p) {
    std::map<BasicBlock*, BasicBlock*> copies;
    std::size_t const k = part_of_[p.blocks.front()];
    for (std::size_t i = 0, count = p.blocks.size(); i < count; ++i) {
      BasicBlock* const from = p.blocks[i];
      SmallSetVector<BasicBlock*, 2> failing;
      for (BasicBlock* const to : successors(from))
        if (fails(*to)) failing.insert(to);
      for (BasicBlock* const to : failing) {
        BasicBlock*& copy = copies[to];
        if (copy == nullptr) {
          ValueToValueMapTy map;
          copy = CloneBasicBlock(to, map, "", &f_);
          SmallVector<BasicBlock*, 1> const all{copy}; // LLVM 15 accepts no other list
          remapInstructionsInBlocks(all, map);
          for (PHINode& phi : copy->phis())
            while (phi.getNumIncomingValues() > 0) phi.removeIncomingValue(0u, false);
          p.blocks.push_back(copy);
          part_of_[copy] = k;
        }
        auto phi = copy->phis().begin();
        for (PHINode& old : to->phis()) (phi++)->addIncoming(old.getIncomingValueForBlock(from), from);
        from->getTerminator()->replaceSuccessorWith(to, copy);
        for (PHINode& old : make_early_inc_range(to->phis()))
          while (old.getBasicBlockIndex(from) >= 0) old.removeIncomingValue(from, false);
        if (pred_empty(to)) DeleteDeadBlock(to);
      }
    }
  }

  std::size_t place_of(BasicBlock* b) const {
    auto const at = part_of_.find(b);
    return at == part_of_.end() ? none : at->second;
  }
  std::size_t place_of(Value& v) const {
    auto* const i = dyn_cast<Instruction>(&v);
    return i == nullptr ? none : place_of(i->getParent());
  }

  // A value that is used in another part than it is defined in, and those uses.
  struct crossing {
    Value* value;
    std::uint64_t offset;
    SmallVector<Use*, 2> uses;
  };
  void look_at(Value& v) {
    crossing c{&v, 0, {}};
    std::size_t const definition = place_of(v);
    for (Use& u : v.uses())
      if (place_of(*u.getUser()) != definition) c.uses.push_back(&u);
    if (c.uses.empty()) return;
    c.offset = alignTo(bytes_, layout_.getABITypeAlign(v.getType()));
    bytes_ = c.offset + layout_.getTypeAllocSize(v.getType()).getFixedValue();
    crossing_.push_back(std::move(c));
  }
  void find_crossing() {
    for (Argument& a : f_.args()) look_at(a);
    for (Instruction& i : instructions(f_))
      if (!i.getType()->isVoidTy()) look_at(i);
  }

  void make_functions() {
    LLVMContext& c = f_.getContext();
    IRBuilder<> first(&f_.getEntryBlock(), f_.getEntryBlock().begin());
    auto* const memory = first.CreateAlloca(ArrayType::get(first.getInt8Ty(), bytes_));
    memory->setAlignment(Align(64));
    frame_ = memory;
    for (part& p : parts_) {
      p.made = Function::Create(
          FunctionType::get(Type::getVoidTy(c), {pointer_type(c)}, false), Function::InternalLinkage,
          f_.getName() + ".part", *f_.getParent());
      set_unwindable(*p.made);
      p.made->setAlignment(Align(64));
      if (f_.doesNotThrow()) p.made->setDoesNotThrow();
      if (f_.hasFnAttribute("prefer-vector-width"))
        p.made->addFnAttr(f_.getFnAttribute("prefer-vector-width"));
      p.call = BasicBlock::Create(c, "part", &f_, p.blocks.front());
    }
    DenseMap<BasicBlock*, BasicBlock*> call_of; // by first block
    for (part& p : parts_) call_of[p.blocks.front()] = p.call;
    for (part& p : parts_) {
      IRBuilder<> b(p.call);
      b.CreateCall(p.made, {frame_});
      auto const at = call_of.find(p.next);
      b.CreateBr(at == call_of.end() ? p.next : at->second);
    }
    for (BasicBlock& b : f_) {
      if (place_of(&b) != none) continue;
      for (unsigned k = 0; k < b.getTerminator()->getNumSuccessors(); ++k)
        if (auto const at = call_of.find(b.getTerminator()->getSuccessor(k)); at != call_of.end())
          b.getTerminator()->setSuccessor(k, at->second);
    }
  }

  Value* address(IRBuilder<>& b, std::size_t place, std::uint64_t offset) {
    Value* const base = place == none ? frame_ : parts_[place].made->getArg(0);
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
  }
  void pass_through_memory() {
    for (crossing& c : crossing_) {
      for (Use* const u : c.uses) {
        if (u->get() != c.value) continue; // set already with another entry of the phi for the same block
        auto* const user = cast<Instruction>(u->getUser());
        std::size_t const place = place_of(user->getParent());
        Instruction* before = user;
        if (auto* const phi = dyn_cast<PHINode>(user)) {
          BasicBlock* const from = phi->getIncomingBlock(*u);
          before =
              (place == none && place_of(from) != none ? parts_[place_of(from)].call : from)->getTerminator();
        }
        IRBuilder<> b(before);
        b.SetCurrentDebugLocation({});
        Value* const loaded = b.CreateLoad(c.value->getType(), address(b, place, c.offset));
        auto* const phi = dyn_cast<PHINode>(user);
        if (phi == nullptr) {
          u->set(loaded);
          continue;
        }
        BasicBlock const* const from = phi->getIncomingBlock(*u);
        for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k)
          if (phi->getIncomingBlock(k) == from && phi->getIncomingValue(k) == c.value)
            phi->setIncomingValue(k, loaded);
      }
      IRBuilder<> b(f_.getContext());
      if (auto* const invoke = dyn_cast<InvokeInst>(c.value)) {
        BasicBlock* to = invoke->getNormalDest();
        if (to->getUniquePredecessor() == nullptr) to = SplitEdge(invoke->getParent(), to);
        b.SetInsertPoint(to, to->getFirstInsertionPt());
      } else if (auto* const i = dyn_cast<Instruction>(c.value))
        b.SetInsertPoint(isa<PHINode>(i) ? &*i->getParent()->getFirstInsertionPt() : i->getNextNode());
      else
        b.SetInsertPoint(cast<Instruction>(frame_)->getNextNode());
      b.CreateStore(c.value, address(b, place_of(*c.value), c.offset));
    }
  }

  void move_blocks() {
    for (part& p : parts_) {
      BasicBlock* last = nullptr; // the block that continues
      for (BasicBlock* const b : p.blocks) {
        if (!fails(*b)) last = b;
        b->removeFromParent();
        b->insertInto(p.made);
      }
      auto* const end = BasicBlock::Create(f_.getContext(), "", p.made);
      ReturnInst::Create(f_.getContext(), end);
      p.next->replacePhiUsesWith(last, p.call);
      last->getTerminator()->replaceSuccessorWith(p.next, end);
    }
  }

  Function& f_;
  DataLayout const& layout_;
  std::vector<part> parts_;
  DenseMap<BasicBlock*, std::size_t> part_of_;
  std::vector<crossing> crossing_;
  std::uint64_t bytes_ = 0;
  Value* frame_ = nullptr;
};

} // namespace

void split_block(ArrayRef<Instruction*> at) {
  // In reverse order: splitting moves what comes after a cut.
  for (Instruction* const each : reverse(at)) (void)each->getParent()->splitBasicBlock(each);
}

void outline_long_functions(Module& m) {
  std::vector<Function*> all;
  for (Function& f : m)
    if (!f.isDeclaration() && f.getSubprogram() == nullptr && calls_in(f) > maximum_calls) all.push_back(&f);
  for (Function* const f : all) outliner(*f).run();
}

} // namespace overdub::jit
