// Live ranges of the values that own references: which operation uses each of them last. Both executors ask here where they emit code
// that releases or transfers a reference.
#pragma once

#include <overdub/implementation/ir/use_order.hpp>
#include <overdub/ir/function.hpp>

#include <vector>

namespace overdub::ir {

/// The creator of a value owns one reference, and transfers or releases it at the last use. The function and its order must outlive it.
class live_ranges {
public:
  live_ranges(function const& f, use_order const& order);

  /// Begins the live range of a value in region r. Returns its last use there; nothing, if there is none.
  node_id begin(value_id v, region_id r);
  /// Ends the live ranges at an operation. Returns the values whose references it did not transfer.
  std::vector<value_id> end(node_id n);
  /// Transfers the reference of a value, if the operation is its last use. Returns whether it is.
  bool transfer(value_id v, node_id n);

  /// Transfers the references of values with their last use at an operation, in whose regions they are used, into the
  /// regions. Each region begins their live ranges again.
  std::vector<value_id> pass_into_regions(node_id n);
  /// Call it after those regions.
  void leave_regions(std::vector<value_id> const& given);

  /// Whether a part of an array, which operation n creates, needs no reference: the last use of the array is after
  /// that of the part. `owner`: the value that owns the reference to the array; nothing: one that is never released.
  bool can_borrow(value_id owner, value_id part, node_id n) const;
  void borrow(value_id owner, value_id part) { borrowed_from_[index_of(part)] = owner; }
  /// The value that owns the reference to a borrowed value; nothing: one that is never released.
  value_id owner_of(value_id borrowed) const { return borrowed_from_[index_of(borrowed)]; }

private:
  struct last_use {
    value_id value;
    bool releases;
  };

  function const& f_;
  use_order const& order_;
  std::vector<value_id> borrowed_from_;          // for each borrowed value
  std::vector<node_id> last_use_of_;             // for each owned value
  std::vector<std::vector<last_use>> last_uses_; // for each operation: values with their last use there
};

} // namespace overdub::ir
