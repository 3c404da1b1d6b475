// Hash maps and hash sets of SSA values. A typical map takes the values of a function to those of its clone, like LLVM's ValueToValueMapTy.
#pragma once

#include <overdub/ir/id.hpp>

#include <cstddef>
#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

namespace overdub::ir {

struct value_hash {
  std::size_t operator()(value_id v) const { return index_of(v) * std::size_t{0x9e3779b97f4a7c15}; }
};
template <class T>
using value_map = tsl::robin_map<value_id, T, value_hash>;
using value_set = tsl::robin_set<value_id, value_hash>;

} // namespace overdub::ir
