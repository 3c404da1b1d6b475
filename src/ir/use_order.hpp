// Live ranges: the positions of a function's uses, in program order.
#pragma once

#include <overdub/implementation/ir/ancestor.hpp>
#include <overdub/ir/function.hpp>
#include <overdub/ir/walk.hpp>

#include <cstdint>
#include <vector>

namespace overdub::ir {

/// For one function, which must outlive it, and stay unchanged.
class use_order {
public:
  /// O(operations).
  explicit use_order(function const& f) : f_(&f), position_(f.node_count()) {
    std::uint32_t n = 0;
    walk(f, function::body, [&](node_id node) { position_[index_of(node)] = n++; });
  }

  /// Whether an operation comes before another one.
  bool is_before(node_id a, node_id b) const { return position_[index_of(a)] < position_[index_of(b)]; }

  /// The last operation of region r that uses the value, itself or in a nested region. O(uses × depth).
  node_id last_use_in(value_id v, region_id r) const {
    node_id last = nothing;
    for (use_id const u : f_->uses_of(v))
      if (node_id const n = ancestor_in(*f_, (*f_)[u].user, r);
          n != nothing && (last == nothing || is_before(last, n)))
        last = n;
    return last;
  }
  /// Whether a region of the operation uses the value.
  bool is_used_inside(value_id v, node_id n) const {
    for (region_id const r : f_->regions_of(n))
      if (last_use_in(v, r) != nothing) return true;
    return false;
  }

private:
  function const* f_;
  std::vector<std::uint32_t> position_; // for each operation
};

} // namespace overdub::ir
