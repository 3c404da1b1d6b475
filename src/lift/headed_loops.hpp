// Loops whose first block alone decides whether they continue, as while (c) without break; and among them counted loops, whose trip count is
// known before they begin, as for (i = a; i < b; ++i).
#pragma once

#include "structure.hpp"

#include <cstdint>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <map>
#include <vector>

namespace overdub::lifting {

/// A loop that runs its header block and, while that continues, another part. The header has no side effects.
struct headed_loop {
  std::uint32_t header = 0;     // the node of the header block
  std::uint32_t continuing = 0; // the sequence that runs while the loop continues
  std::uint32_t leaving = 0;    // the sequence that runs when it ends
  bool continues_if = true;     // the value of the header's condition with which it continues

  /// A counted loop continues while index + offset `how` bound; after each iteration the index is index + step.
  bool is_counted = false;
  llvm::PHINode const* index = nullptr;
  llvm::CmpInst::Predicate how = llvm::CmpInst::ICMP_SLT;
  llvm::Value const* bound = nullptr;
  std::int64_t offset = 0, step = 1;
  bool wraps = false;               // index + step may exceed the range of its type
  bool is_compared_wrapped = false; // so may index + offset
  std::vector<llvm::Instruction const*>
      prepares; // instructions of the header that compute the bound, in order; they are loop-invariant
};

/// The headed loops of a tree over the blocks of a function, by the numbers of their nodes; without those that are not counted and have
/// a long header. O(size × nesting).
std::map<std::uint32_t, headed_loop>
headed_loops(tree const& t, llvm::ArrayRef<llvm::BasicBlock const*> blocks);

} // namespace overdub::lifting
