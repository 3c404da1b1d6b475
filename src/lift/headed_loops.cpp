#include "headed_loops.hpp"

#include <algorithm>
#include <iterator>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Operator.h>
#include <optional>

namespace overdub::lifting {
namespace {

using llvm::CmpInst;
using llvm::Instruction;

class loop_counter {
public:
  loop_counter(tree const& t, llvm::ArrayRef<llvm::BasicBlock const*> blocks, std::uint32_t loop)
      : t_(t), blocks_(blocks), repeat_(t.nodes[loop].subject),
        body_(t.nodes[t.nodes[loop].children.front()]) {}

  std::optional<headed_loop> run() {
    if (body_.children.size() != 2) return {};
    tree::node const &first = node(0), &second = node(1);
    if (first.is != tree::kind::block || second.is != tree::kind::branch || second.subject != first.subject ||
        second.children.size() != 2)
      return {};
    header_ = blocks_[first.subject];
    if (std::ranges::any_of(*header_, [](Instruction const& i) {
          return i.mayHaveSideEffects() || llvm::isa<llvm::CallBase>(i);
        }))
      return {};
    bool const continues_first = assigns_only(second.children[0], 1) && assigns_only(second.children[1], 0);
    if (!continues_first && !(assigns_only(second.children[0], 0) && assigns_only(second.children[1], 1)))
      return {};
    result_.header = body_.children[0];
    result_.continuing = second.children[continues_first ? 0 : 1];
    result_.leaving = second.children[continues_first ? 1 : 0];
    result_.continues_if = continues_first;
    inside_.insert(header_);
    collect(result_.continuing);
    auto const* const branch = llvm::cast<llvm::BranchInst>(header_->getTerminator());
    auto const* const compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (!compare || compare->getParent() != header_ || !compare->getOperand(0)->getType()->isIntegerTy())
      return if_short();
    for (unsigned const side : {0u, 1u}) {
      CmpInst::Predicate how = side == 0 ? compare->getPredicate() : compare->getSwappedPredicate();
      if (!continues_first) how = CmpInst::getInversePredicate(how);
      if (counts(*compare, side, how)) {
        result_.is_counted = true;
        return result_;
      }
    }
    return if_short();
  }

private:
  // The header is emitted as the condition, and again for the values that it computes.
  std::optional<headed_loop> if_short() const {
    constexpr std::ptrdiff_t most_instructions = 8;
    if (std::distance(header_->getFirstNonPHI()->getIterator(), header_->end()) > most_instructions)
      return {};
    return result_;
  }
  tree::node const& node(std::size_t i) const { return t_.nodes[body_.children[i]]; }

  // Whether each assignment of the loop's variable in a part of the tree has this value, and there is one.
  bool assigns_only(std::uint32_t part, std::uint32_t value) const {
    bool found = false, wrong = false;
    visit(part, [&](tree::node const& n) {
      if (n.is != tree::kind::assignment || n.subject != repeat_) return;
      found = true;
      wrong = wrong || n.value != value;
    });
    return found && !wrong;
  }
  void collect(std::uint32_t part) {
    visit(part, [&](tree::node const& n) {
      if (n.is == tree::kind::block) inside_.insert(blocks_[n.subject]);
    });
  }
  template <class Visit>
  void visit(std::uint32_t part, Visit const& see) const {
    std::vector<std::uint32_t> pending{part};
    while (!pending.empty()) {
      tree::node const& n = t_.nodes[pending.back()];
      pending.pop_back();
      see(n);
      pending.insert(pending.end(), n.children.begin(), n.children.end());
    }
  }

  bool counts(llvm::ICmpInst const& compare, unsigned side, CmpInst::Predicate how) {
    llvm::Value const* const compared = compare.getOperand(side);
    auto const* index = llvm::dyn_cast<llvm::PHINode>(compared);
    result_.offset = 0;
    result_.is_compared_wrapped = false;
    if (auto const* sum = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(compared)) { // as in i + 1 < n
      bool const adds = sum->getOpcode() == Instruction::Add;
      auto const* const constant = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1));
      if (!constant || constant->getBitWidth() > 64 || (!adds && sum->getOpcode() != Instruction::Sub))
        return false;
      std::int64_t const distance = constant->getSExtValue();
      if (distance < -65536 || distance > 65536) return false;
      index = llvm::dyn_cast<llvm::PHINode>(sum->getOperand(0));
      result_.offset = adds ? distance : -distance;
      result_.is_compared_wrapped = !sum->hasNoSignedWrap();
    }
    if (!index || index->getParent() != header_ || !is_stepped(*index)) return false;
    result_.index = index;
    result_.how = how;
    result_.bound = compare.getOperand(1 - side);
    result_.prepares.clear();
    return has_trip_count() && is_invariant(result_.bound, 8);
  }
  // Whether each iteration adds a constant to the index.
  bool is_stepped(llvm::PHINode const& index) {
    Instruction const* step = nullptr;
    for (unsigned i = 0; i < index.getNumIncomingValues(); ++i) {
      if (!inside_.contains(index.getIncomingBlock(i))) continue;
      auto const* const next = llvm::dyn_cast<llvm::BinaryOperator>(index.getIncomingValue(i));
      if (!next || (step && next != step) || next->getOpcode() != Instruction::Add ||
          next->getOperand(0) != &index)
        return false;
      step = next;
    }
    auto const* const constant = step ? llvm::dyn_cast<llvm::ConstantInt>(step->getOperand(1)) : nullptr;
    if (!constant || index.getType()->getIntegerBitWidth() > 64) return false;
    result_.step = constant->getSExtValue();
    auto const* const add = llvm::cast<llvm::OverflowingBinaryOperator>(step);
    result_.wraps = !add->hasNoSignedWrap();
    return result_.step != 0 && result_.step > -65536 && result_.step < 65536;
  }
  // Whether the loop ends after a number of iterations that follows from the first index and the bound, without wrapping around.
  bool has_trip_count() const {
    std::int64_t const step = result_.step;
    bool const wraps = result_.wraps || result_.is_compared_wrapped;
    switch (result_.how) {
    case CmpInst::ICMP_SLT:
      return step == 1 || (step > 1 && !wraps);
    case CmpInst::ICMP_SGT:
      return step == -1 || (step < -1 && !wraps);
    case CmpInst::ICMP_SLE:
      return step > 0 && !wraps;
    case CmpInst::ICMP_SGE:
      return step < 0 && !wraps;
    case CmpInst::ICMP_ULT:
      return step == 1;
    case CmpInst::ICMP_UGT:
      return step == -1;
    case CmpInst::ICMP_NE:
      return step == 1 || step == -1;
    default:
      return false;
    }
  }
  // Whether a value is the same in all iterations: it comes from outside, or the header computes it from such values.
  bool is_invariant(llvm::Value const* v, int depth) {
    auto const* const i = llvm::dyn_cast<Instruction>(v);
    if (!i || !inside_.contains(i->getParent())) return true;
    if (i->getParent() != header_ || depth == 0 || llvm::isa<llvm::PHINode>(i) || i->mayReadFromMemory())
      return false;
    if (i->getType()->isPointerTy()) return false;
    for (llvm::Value const* operand : i->operands())
      if (operand->getType()->isPointerTy() || !is_invariant(operand, depth - 1)) return false;
    if (std::ranges::find(result_.prepares, i) == result_.prepares.end()) result_.prepares.push_back(i);
    return true;
  }

  tree const& t_;
  llvm::ArrayRef<llvm::BasicBlock const*> blocks_;
  std::uint32_t repeat_;
  tree::node const& body_;
  llvm::BasicBlock const* header_ = nullptr;
  llvm::DenseSet<llvm::BasicBlock const*> inside_;
  headed_loop result_;
};

} // namespace

std::map<std::uint32_t, headed_loop>
headed_loops(tree const& t, llvm::ArrayRef<llvm::BasicBlock const*> blocks) {
  std::map<std::uint32_t, headed_loop> all;
  for (std::uint32_t n = 0; n < t.nodes.size(); ++n)
    if (t.nodes[n].is == tree::kind::loop)
      if (auto counted = loop_counter(t, blocks, n).run()) all.emplace(n, std::move(*counted));
  return all;
}

} // namespace overdub::lifting
