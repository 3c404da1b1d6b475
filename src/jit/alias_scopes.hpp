// Alias metadata of accumulators.
#pragma once

#include "values.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace overdub::jit {

/// The alias scopes of the accumulators of enclosing regions: only add_to accesses them there.
class alias_scopes {
public:
  void enter(value_id accumulator, llvm::MDNode* scope) { all_.push_back({accumulator, scope}); }
  std::size_t depth() const { return all_.size(); }
  void leave_to(std::size_t depth) { all_.resize(depth); }
  /// Attaches the metadata of an accumulator to a load or store; nothing: of none.
  void set_on(llvm::Instruction* access, value_id accumulator) const;

private:
  std::vector<std::pair<value_id, llvm::MDNode*>> all_;
};

} // namespace overdub::jit
