// The accesses to arrays whose indices need no bounds check.
#pragma once

#include <overdub/ir/bounds.hpp>

#include <cstdint>
#include <vector>

namespace overdub::ir {

/// The accesses of a function whose indices are known to be in range: by their definition, or by a check that covers them.
class known_in_range {
public:
  explicit known_in_range(function const& f) : f_(f), covered_(f.node_count()) {}

  /// Whether an index (from 0) of an access is known to be in range.
  bool has(node_id access, std::uint32_t index) const {
    return covered_[index_of(access)] != 0 ||
           (index == 0 && is_in_range(f_, f_.operand(access, 0), f_.operand(access, 1)));
  }
  /// Sets whether a check covers all indices of an access in the code that is emitted next.
  void set_covered(node_id access, bool is) { covered_[index_of(access)] = is ? 1 : 0; }

private:
  function const& f_;
  std::vector<std::uint8_t> covered_; // for each operation
};

} // namespace overdub::ir
