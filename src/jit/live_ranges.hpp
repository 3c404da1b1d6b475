// Live ranges of the values that own references: which operation uses each of them last. Emits nothing.
#pragma once

#include <overdub/implementation/ir/use_order.hpp>
#include <overdub/ir/function.hpp>

#include <vector>

namespace overdub::jit {

class live_ranges {
public:
  live_ranges(ir::function const& f, ir::use_order const& order);

  /// Begins the live range of a value in region r. Returns its last use there; nothing, if there is none.
  ir::node_id begin(ir::value_id v, ir::region_id r);
  /// Ends the live ranges at an operation. Returns the values whose references it did not transfer.
  std::vector<ir::value_id> end(ir::node_id n);
  /// Transfers the reference of a value, if the operation is its last use. Returns whether it is.
  bool transfer(ir::value_id v, ir::node_id n);

  /// Transfers the references of values with their last use at an operation, in whose regions they are used, into the
  /// regions. Each region begins their live ranges again.
  std::vector<ir::value_id> pass_into_regions(ir::node_id n);
  /// Call it after those regions.
  void leave_regions(std::vector<ir::value_id> const& given);

  /// Whether a part of an array, which operation n creates, needs no reference: the last use of the array is after
  /// that of the part. `owner`: the value that owns the reference to the array; nothing: one that is never released.
  bool can_borrow(ir::value_id owner, ir::value_id part, ir::node_id n) const;
  void borrow(ir::value_id owner, ir::value_id part) { borrowed_from_[index_of(part)] = owner; }
  /// The value that owns the reference to a borrowed value; nothing: one that is never released.
  ir::value_id owner_of(ir::value_id borrowed) const { return borrowed_from_[index_of(borrowed)]; }

private:
  struct last_use {
    ir::value_id value;
    bool releases;
  };

  ir::function const& f_;
  ir::use_order const& order_;
  std::vector<ir::value_id> borrowed_from_;      // for each borrowed value
  std::vector<ir::node_id> last_use_of_;         // for each owned value
  std::vector<std::vector<last_use>> last_uses_; // for each operation: values with their last use there
};

} // namespace overdub::jit
