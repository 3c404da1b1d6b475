// In-place updates of loop-carried arrays: if nothing else refers to the buffer, the array stays in place during the
// loop, without tests of its reference count. Emits nothing.
#pragma once

#include <overdub/implementation/ir/use_order.hpp>
#include <overdub/ir/function.hpp>

#include <cstdint>
#include <vector>

namespace overdub::ir {

/// The loop-carried arrays of a function that loops update in place.
class in_place_arrays {
public:
  /// O(uses of loop-carried arrays and their updates × depth).
  in_place_arrays(function const& f, use_order const& order);
  /// Whether v, an argument of a loop's body, is such an array.
  bool has(value_id v) const { return found_[index_of(v)] != 0; }

private:
  std::vector<std::uint8_t> found_; // for each value
};

/// Whether an operation has a value as exactly one operand.
bool is_once_in(function const& f, value_id v, node_id n);
/// Whether an operation reads numbers of an array, and keeps no reference to it.
bool is_only_read_by(function const& f, value_id v, node_id n);

} // namespace overdub::ir
