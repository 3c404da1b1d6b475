// Reference counting as data: which operation transfers, retains or releases a reference, where a reference is borrowed, and where a
// buffer has one reference, so that it may be reused in place. Executors ask it before they emit code. Values are consumed at their
// last use (Reinking, Xie, de Moura and Leijen, Perceus, 2021).
#pragma once

#include <overdub/implementation/ir/in_place.hpp>
#include <overdub/implementation/ir/parameter_ownership.hpp>
#include <overdub/implementation/ir/use_order.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace overdub::ir {

/// What differs between executors.
struct counting_rules {
  parameter_ownership const& owners;
  function_id of;                            // the function that is analysed
  in_place_arrays const* in_place = nullptr; // none: loops test the counts of arrays
  std::function<bool(value_id)> varies =
      {}; // in a vectorised region: a uniform array is copied where it becomes one that varies
  std::function<bool(node_id)> is_in_lanes =
      {}; // in a vectorised region: all regions of such an operation may run
};

/// How each value of a function, or of a region, is counted. Its creator owns one reference, and transfers or releases it at the last use.
/// A part of an array is borrowed, if the last use of the array comes after that of the part.
class reference_counts {
public:
  /// O(uses of counted values × depth). References to values from outside of the region are neither transferred nor released.
  reference_counts(
      function const& f, use_order const& order, counting_rules const& rules, region_id r = function::body);

  /// Whether an operation transfers the reference of an operand, which it uses last. The part of an array receives that of the array.
  bool transfers(node_id n, std::uint32_t operand) const { return has(n, operand, transfer); }
  /// Whether an operation needs a new reference to an operand. An update may copy the array instead.
  bool retains(node_id n, std::uint32_t operand) const { return has(n, operand, retain); }
  /// Whether a buffer whose reference is transferred has no other reference.
  bool is_unique(node_id n, std::uint32_t operand) const { return has(n, operand, unique); }
  /// The values that are released after an operation: those with their last use there whose references are not transferred, and
  /// unused results.
  std::span<value_id const> released_after(node_id n) const { return after_[index_of(n)]; }
  /// The values that are released at the entry of a region, which does not use them.
  std::span<value_id const> released_on_entry(region_id r) const { return on_entry_[index_of(r)]; }
  /// Whether a parameter or a part of an array owns no reference.
  bool is_borrowed(value_id v) const { return borrowed_[index_of(v)]; }

private:
  class analysis;
  enum flag : std::uint8_t { transfer = 1, retain = 2, unique = 4 };
  bool has(node_id n, std::uint32_t operand, flag f) const {
    return (uses_[(*f_)[n].first_operand + operand] & f) != 0;
  }

  function const* f_;
  std::vector<std::uint8_t> uses_;              // flags
  std::vector<std::vector<value_id>> after_;    // by operation
  std::vector<std::vector<value_id>> on_entry_; // by region
  std::vector<bool> borrowed_;                  // by value
};

/// A line for each operation and region that counts references.
std::string text_of(reference_counts const& counts, program const& p, function const& f);

} // namespace overdub::ir
