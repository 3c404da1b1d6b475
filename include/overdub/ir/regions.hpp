// How values flow through the regions of operations: from operands to the arguments of regions, and from yielded values to arguments and
// results. Analyses and passes use this interface instead of switching over operations, as MLIR's RegionBranchOpInterface.
#pragma once

#include <overdub/core/function_view.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/function.hpp>

#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

namespace overdub::ir {

/// Whether the regions of an operation run any number of times. Other regions run at most once.
constexpr bool repeats_regions(op code) { return row_of(code).has(region_traits::repeats); }
/// Whether operand 0 is a trip count, and the first argument of the region the index of the iteration.
constexpr bool is_counted(op code) { return row_of(code).has(region_traits::counted); }
/// Whether an operation has loop-carried values.
constexpr bool carries_values(op code) { return row_of(code).has(region_traits::carries); }
/// Whether an operation is a counted loop with loop-carried values.
constexpr bool is_counted_loop(op code) { return is_counted(code) && carries_values(code); }
/// Whether an operation is a loop with loop-carried values that runs while a condition holds.
constexpr bool is_conditional_loop(op code) { return carries_values(code) && !is_counted(code); }
/// Whether an operation is a map: a counted one without loop-carried values.
constexpr bool is_map(op code) { return is_counted(code) && !carries_values(code); }
/// Whether operand 0 selects one of the regions.
constexpr bool selects_region(op code) { return row_of(code).has(region_traits::selects); }
/// Whether the arguments of the region are accumulators of the operands.
constexpr bool has_accumulators(op code) { return row_of(code).has(region_traits::accumulates); }

/// The innermost operation that contains an operation; nothing, in the body of the function. O(1).
inline node_id owner_of(function const& f, node_id n) { return f[f[n].parent].parent; }
/// The operation with the region that has an argument; nothing, for a parameter of the function. O(1).
inline node_id owner_of(function const& f, value_id argument) { return f[f.region_of(argument)].parent; }

/// Whether a value is defined in a region, or in one that is nested in it. False for literals. O(depth of nesting).
bool is_defined_in(function const& f, value_id v, region_id r);

/// Whether a value is the iteration index of a counted operation. O(1).
bool is_iteration_index(function const& f, value_id v);

/// The flow of values through the regions of one operation. Refers to the function, which must not be edited meanwhile. All members are
/// O(1).
class region_flow {
public:
  region_flow(function const& f, node_id n) : f_(&f), n_(n) {}

  /// The number of operands before those that flow into the regions: a trip count, a condition.
  std::uint32_t leading_operands() const { return is_counted(code()) || selects_region(code()) ? 1 : 0; }
  /// The number of arguments before the loop-carried ones: an index.
  std::uint32_t leading_arguments() const { return is_counted(code()) ? 1 : 0; }
  /// The trip count, and the iteration index. Requires a counted operation.
  value_id trip_count() const {
    assert(is_counted(code()));
    return f_->operand(n_, 0);
  }
  value_id index() const {
    assert(is_counted(code()));
    return f_->argument(body(), 0);
  }
  /// The number of loop-carried values. Each is an operand, an argument of every region, a value that the body yields, and a
  /// result: `initial(i)`, `argument(i)`, `next(i)` and `final(i)` are these four of the i-th. They require i < carried().
  std::uint32_t carried() const {
    return carries_values(code()) ? node().operand_count - leading_operands() : 0;
  }
  value_id initial(std::uint32_t i) const {
    assert(i < carried());
    return f_->operand(n_, leading_operands() + i);
  }
  value_id argument(std::uint32_t i) const {
    assert(i < carried());
    return f_->argument(body(), leading_arguments() + i);
  }
  value_id next(std::uint32_t i) const {
    assert(i < carried());
    return yielded(i);
  }
  value_id final(std::uint32_t i) const {
    assert(i < carried());
    return f_->result(n_, i);
  }
  /// The index of the loop-carried value of which `v` is an argument.
  std::optional<std::uint32_t> carried_index(value_id v) const;

  /// The region that yields the results; for `if_`, the first branch. Requires regions.
  region_id body() const {
    assert(node().region_count > 0);
    return f_->region_at(n_, carries_values(code()) ? node().region_count - 1u : 0u);
  }
  /// The values that the body yields.
  value_id yielded(std::uint32_t i) const { return f_->operand(f_->yield_of(body()), i); }
  /// Whether a region of the operation yields its results. The condition of `while_` does not.
  bool yields_results(region_id r) const {
    assert((*f_)[r].parent == n_);
    return selects_region(code()) || r == body();
  }
  /// The index of the first result that a region yields; those before it are the sums of accumulators.
  std::uint32_t first_yielded() const { return has_accumulators(code()) ? node().operand_count : 0; }
  /// The number of stacked results: arrays with one element for each iteration, as the `ys` of lax.scan.
  std::uint32_t stacked() const {
    return row_of(code()).has(region_traits::stacks) ? node().result_count - carried() : 0;
  }
  /// Whether a result is stacked.
  bool is_stacked(std::uint32_t result) const {
    return row_of(code()).has(region_traits::stacks) && result >= carried();
  }

private:
  function::node const& node() const { return (*f_)[n_]; }
  op code() const { return node().code; }

  function const* f_;
  node_id n_;
};

/// Calls visit(v) for each region argument and result that receives operand `i` of n, which is an operation with regions, or a `yield`. An
/// array counts as a whole. Nothing receives trip counts and conditions, nor operands of other operations and of the yield of a function's
/// body. O(values visited).
void for_each_destination(
    function const& f, node_id n, std::uint32_t i, overdub::detail::function_view<void(value_id)> visit);

/// The types of the results of an operation with regions, from its operands and from what its regions yield. Requires complete
/// regions. O(results).
std::vector<type> result_types(function const& f, node_id n);

} // namespace overdub::ir
