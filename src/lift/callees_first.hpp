// An order of functions in which callees precede their callers.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <utility>
#include <vector>

namespace overdub::lifting {

/// The defined functions among these and those that they call, callees first. A function that calls itself, directly or not, comes at an
/// unspecified place among its callees. `Function` is llvm::Function, or const. O(instructions).
template <class Function>
std::vector<Function*> callees_first(std::vector<Function*> const& roots) {
  std::vector<Function*> order;
  llvm::DenseSet<Function*> seen;
  for (Function* const root : roots) {
    std::vector<std::pair<Function*, bool>> pending{{root, false}};
    while (!pending.empty()) {
      auto const [f, is_done] = pending.back();
      pending.pop_back();
      if (is_done) {
        order.push_back(f);
        continue;
      }
      if (f->isDeclaration() || !seen.insert(f).second) continue;
      pending.emplace_back(f, true);
      for (auto& i : llvm::instructions(*f))
        if (auto* const call = llvm::dyn_cast<llvm::CallBase>(&i))
          if (Function* const callee = call->getCalledFunction()) pending.emplace_back(callee, false);
    }
  }
  return order;
}

} // namespace overdub::lifting
