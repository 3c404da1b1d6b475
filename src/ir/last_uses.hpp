// Live ranges as data: the values that each operation uses last.
#pragma once

#include <overdub/implementation/ir/use_order.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace overdub::ir {

/// Where the values of a function end: at the last operation of their region that uses them, itself or in a region of it. A result without
/// uses ends at its own operation, an argument of a region without uses nowhere.
class last_uses {
public:
  /// O(uses × depth).
  last_uses(function const& f, use_order const& order);

  /// The values that end at an operation: its own results first, then others, in the order of their definition.
  std::span<value_id const> at(node_id n) const {
    return std::span(values_).subspan(first_[index_of(n)], first_[index_of(n) + 1] - first_[index_of(n)]);
  }

private:
  std::vector<std::uint32_t> first_; // by operation: its first one in values_
  std::vector<value_id> values_;
};

/// A line for each operation at which values end.
std::string text_of(last_uses const& ends, program const& p, function const& f);

} // namespace overdub::ir
