// Loops of machine code with a trip count.
#pragma once

#include "emitter.hpp"

#include <vector>

namespace overdub::jit {

/// A loop with a trip count and loop-carried parts: for (i = 0; i < count; ++i).
struct counted_loop {
  block header, body, latch, exit;
  llvm::PHINode* index;
  std::vector<llvm::PHINode*> carried;

  parts carried_parts() const { return {carried.begin(), carried.end()}; }
};

/// Emits the head of a loop, and leaves the insertion point in its body.
counted_loop begin_loop(emitter&, llvm::Value* count, llvm::ArrayRef<llvm::Value*> carried);
/// Ends the body with the next loop-carried parts, and leaves the insertion point after the loop. `unrolled`:
/// requests it.
void end_loop(emitter&, counted_loop const& l, llvm::ArrayRef<llvm::Value*> next, bool unrolled = false);

} // namespace overdub::jit
