// Replaces a call by the callee's body, for passes that decide which calls to inline.
#pragma once

#include <overdub/ir/cursor.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::pass {

/// Inlines calls one after another; a copy reuses the memory of the one before it.
class call_replacement {
public:
  /// Replaces a call, before which the cursor is, by a copy of the body of its callee, which is another function. O(operations of the
  /// callee).
  void operator()(ir::cursor& c, ir::node_id call) {
    ir::function_id const id = (*c)[call].attributes.callee();
    ir::function const& callee = c.owner()[id];
    copied_.clear(callee.value_count());
    for (std::uint32_t i = 0; i < (*c)[call].operand_count; ++i)
      copied_.insert_or_assign(callee.argument(ir::function::body, i), c->operand(call, i));
    c.clone_contents(id, ir::function::body, copied_);
    ir::node_id const last = (*c)[call].previous; // the copy of the yield
    results_.clear();
    for (ir::value_id const v : c->operands_of(last)) results_.push_back(v);
    c.erase(last);
    c.replace(call, results_);
  }

private:
  // The map of the callee's values, by index, for cursor::clone_contents.
  class copied_values {
  public:
    void clear(std::size_t size) { all_.assign(size, {ir::nothing, ir::nothing}); }
    std::pair<ir::value_id, ir::value_id> const* find(ir::value_id v) const {
      auto const& x = all_[index_of(v)];
      return x.second == ir::nothing ? end() : &x;
    }
    std::pair<ir::value_id, ir::value_id> const* end() const { return nullptr; }
    void insert_or_assign(ir::value_id v, ir::value_id copy) { all_[index_of(v)] = {v, copy}; }

  private:
    std::vector<std::pair<ir::value_id, ir::value_id>> all_;
  };

  copied_values copied_;
  std::vector<ir::value_id> results_;
};

} // namespace overdub::pass
