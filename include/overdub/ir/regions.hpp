// How values flow through the regions of operations: from operands to the arguments of regions, and from yielded values to arguments and
// results. Analyses and passes use this interface instead of switching over operations, as MLIR's RegionBranchOpInterface.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/function.hpp>

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
inline bool is_defined_in(function const& f, value_id v, region_id r) {
  if (f.is_literal(v)) return false;
  for (region_id at = f.region_of(v); at != r;) {
    node_id const owner = f[at].parent;
    if (owner == nothing) return false;
    at = f[owner].parent;
  }
  return true;
}

/// Whether a value is the iteration index of a counted operation. O(1).
inline bool is_iteration_index(function const& f, value_id v) {
  if (!f.is_argument(v) || f[v].index != 0) return false;
  node_id const owner = owner_of(f, v);
  return owner != nothing && is_counted(f[owner].code);
}

/// The flow of values through the regions of one operation. It refers to the function, which must not be edited meanwhile. All members are
/// O(1).
class region_flow {
public:
  region_flow(function const& f, node_id n) : f_(&f), n_(n) {}

  /// The number of operands before those that flow into the regions: a trip count, a condition.
  std::uint32_t leading_operands() const { return is_counted(code()) || selects_region(code()) ? 1 : 0; }
  /// The number of arguments before the loop-carried ones: an index.
  std::uint32_t leading_arguments() const { return is_counted(code()) ? 1 : 0; }
  /// The trip count, and the iteration index. Requires a counted operation.
  value_id trip_count() const { return f_->operand(n_, 0); }
  value_id index() const { return f_->argument(body(), 0); }
  /// The number of loop-carried values. Each is an operand, an argument of every region, a value that the body yields, and a
  /// result: `initial(i)`, `argument(i)`, `next(i)` and `final(i)` are these four of the i-th, for i < carried().
  std::uint32_t carried() const {
    return carries_values(code()) ? node().operand_count - leading_operands() : 0;
  }
  value_id initial(std::uint32_t i) const { return f_->operand(n_, leading_operands() + i); }
  value_id argument(std::uint32_t i) const { return f_->argument(body(), leading_arguments() + i); }
  value_id next(std::uint32_t i) const { return yielded(i); }
  value_id final(std::uint32_t i) const { return f_->result(n_, i); }
  /// The index of the loop-carried value of which `v` is an argument.
  std::optional<std::uint32_t> carried_index(value_id v) const {
    std::uint32_t const first = leading_arguments();
    if (!carries_values(code()) || !f_->is_argument(v) || owner_of(*f_, v) != n_ || (*f_)[v].index < first)
      return {};
    return (*f_)[v].index - first;
  }

  /// The region that yields the results; for `if_`, the first branch. Requires regions.
  region_id body() const { return f_->region_at(n_, carries_values(code()) ? node().region_count - 1u : 0u); }
  /// The values that the body yields.
  value_id yielded(std::uint32_t i) const { return f_->operand(f_->yield_of(body()), i); }
  /// Whether a region yields results of the operation. The condition of `while_` does not.
  bool yields_results(region_id r) const { return selects_region(code()) || r == body(); }
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
template <class Visit>
void for_each_destination(function const& f, node_id n, std::uint32_t i, Visit visit) {
  auto const to_arguments = [&](node_id owner, std::uint32_t first, std::uint32_t step, std::uint32_t end) {
    for (region_id const r : f.regions_of(owner))
      for (std::uint32_t k = first; k < end; k += step) visit(f.argument(r, k));
  };
  if (f[n].code == op::yield) {
    node_id const owner = owner_of(f, n);
    if (owner == nothing) return;
    region_flow const flow(f, owner);
    if (!flow.yields_results(f[n].parent)) return;
    visit(f.result(owner, flow.first_yielded() + i));
    if (i < flow.carried())
      to_arguments(owner, flow.leading_arguments() + i, 1, flow.leading_arguments() + i + 1);
    if (row_of(f[owner].code).has(region_traits::combines))
      to_arguments(owner, i, f[owner].result_count, 2 * f[owner].result_count);
    return;
  }
  region_flow const flow(f, n);
  op_row const& row = row_of(f[n].code);
  if (row.has(region_traits::carries) && i >= flow.leading_operands()) {
    std::uint32_t const k = i - flow.leading_operands();
    to_arguments(n, flow.leading_arguments() + k, 1, flow.leading_arguments() + k + 1);
    visit(f.result(n, k));
  } else if (row.has(region_traits::accumulates)) {
    to_arguments(n, i, 1, i + 1);
    visit(f.result(n, i));
  } else if (row.has(region_traits::combines)) { // arrays, then initial values
    std::uint32_t const k = i % f[n].result_count;
    to_arguments(n, k, f[n].result_count, 2 * f[n].result_count);
    visit(f.result(n, k));
  }
}

/// The types of the results of an operation with regions, from its operands and from what its regions yield. Requires complete
/// regions. O(results).
std::vector<type> result_types(function const& f, node_id n);

} // namespace overdub::ir
