// Reads in nested maps at computed indices, as in the product with a sparse matrix. A reverse index of these finds the rows that a
// changed element affects.
#pragma once

#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace overdub::increments {

/// Writes the two programs that list the indices of the reads: the trip count of the inner map or loop for each row, and the index for
/// each pair. Both are functions of values that the update does not change.
class gather_writer {
public:
  /// Whether the programs can be written for an index that is computed in a map or loop that is nested in the body of map n.
  /// `is_unchanged`: whether the update does not change a value outside of n.
  template <class IsUnchanged>
  static bool can_write(
      ir::program const& p, ir::function_id f, ir::node_id n, ir::value_id index, IsUnchanged is_unchanged) {
    return gather_writer(p, f, n).find(index, [&](ir::value_id v) {
      return is_unchanged(v) ? std::optional(std::uint32_t{0}) : std::nullopt;
    });
  }
  /// Writes them, if they can be written. `variable_of` returns the saved value for a value outside of n.
  template <class VariableOf>
  static gather
  write(ir::program const& p, ir::function_id f, ir::node_id n, ir::value_id index, VariableOf variable_of) {
    gather_writer w(p, f, n);
    (void)w.find(index, [&](ir::value_id v) { return std::optional<std::uint32_t>(variable_of(v)); });
    return w.made(index);
  }

private:
  gather_writer(ir::program const& p, ir::function_id f, ir::node_id n) : program_(p), f_(f), map_(n) {}
  ir::function const& original() const { return program_[f_]; }
  ir::region_flow outer() const { return {original(), map_}; }
  ir::region_flow inner() const { return {original(), inner_}; }

  template <class VariableOf>
  bool find(ir::value_id index, VariableOf variable_of) {
    ir::function const& f = original();
    if (!f.is_result(index)) return false;
    inner_ = f[f.region_of(index)].parent;
    if (inner_ == ir::nothing || f[inner_].parent != outer().body() || !ir::is_counted(f[inner_].code))
      return false;
    for (ir::value_id const v : {outer().trip_count(), inner().trip_count()})
      if (!collect(v, variable_of)) return false;
    is_of_row_ = false;
    return collect(index, variable_of) && is_of_row_; // else all rows read the same elements
  }
  // Collects the values outside of the map that a value depends on.
  template <class VariableOf>
  bool collect(ir::value_id v, VariableOf variable_of) {
    ir::function const& f = original();
    is_of_row_ = is_of_row_ || v == outer().index();
    if (f.is_literal(v) || v == outer().index() || v == inner().index()) return true;
    bool const is_outside = f.region_of(v) == ir::function::body;
    if (is_outside && !is_cheap(v)) {
      if (std::any_of(
              variables_.begin(), variables_.end(), [&](auto const& known) { return known.first == v; }))
        return true;
      std::optional<std::uint32_t> const variable = variable_of(v);
      if (!variable) return false;
      variables_.emplace_back(v, *variable);
      return true;
    }
    if (!f.is_result(v)) return false;
    ir::node_id const n = f.node_of(v);
    ir::region_id const r = f[n].parent;
    bool const is_inside = r == outer().body() || r == inner().body();
    if ((!is_outside && !is_inside) || f[n].region_count != 0 || f[n].code == ir::op::reduce) return false;
    for (ir::value_id const u : f.operands_of(n))
      if (!collect(u, variable_of)) return false;
    return true;
  }
  // Recomputed from saved values, and not saved itself.
  bool is_cheap(ir::value_id v) const {
    ir::function const& f = original();
    if (!f.is_result(v)) return false;
    ir::op const code = f[f.node_of(v)].code;
    return code == ir::op::length || code == ir::op::at || ir::is_elementwise(code) ||
           code == ir::op::convert;
  }

  gather made(ir::value_id index) {
    gather g;
    g.index = index;
    for (auto const& [v, variable] : variables_) g.variables.push_back(variable);
    g.counts = written(inner().trip_count(), false);
    g.keys = written(index, true);
    return g;
  }
  // A map that returns a value of the body: in all iterations of the outer map, or for pairs of an outer and an inner iteration.
  ir::program written(ir::value_id of, bool in_pairs) {
    ir::program made = program_;
    std::vector<ir::type> types;
    for (auto const& [v, variable] : variables_) types.push_back(original().type_of(v));
    auto const first = static_cast<std::uint32_t>(types.size());
    if (in_pairs) types.insert(types.end(), 2, ir::i64.array_of());
    ir::function_id const g = made.add("gather", types);
    ir::cursor at(made, g, ir::function::body);
    ir::value_map<ir::value_id> here;
    for (std::uint32_t k = 0; k < first; ++k)
      here.insert_or_assign(variables_[k].first, made[g].argument(ir::function::body, k));
    ir::value_id rows, columns;
    if (in_pairs) {
      rows = made[g].argument(ir::function::body, first);
      columns = made[g].argument(ir::function::body, first + 1);
    }
    ir::value_id const count =
        in_pairs ? at.add(ir::op::length, rows) : copied(outer().trip_count(), at, here);
    ir::value_id const all[] = {ir::builder(at).map(count, [&](ir::value_id own) {
      here.insert_or_assign(outer().index(), in_pairs ? at.add(ir::op::at, rows, own) : own);
      if (in_pairs) here.insert_or_assign(inner().index(), at.add(ir::op::at, columns, own));
      return copied(of, at, here);
    })};
    at.yield(all);
    made[g].results = {ir::i64.array_of()};
    made.entry = g;
    return made;
  }
  ir::value_id copied(ir::value_id v, ir::cursor& at, ir::value_map<ir::value_id>& here) {
    ir::function const& f = original();
    if (f.is_literal(v)) return at.literal(f.type_of(v), f.bits_of(v));
    if (auto const known = here.find(v); known != here.end()) return known->second;
    ir::node_id const n = f.node_of(v);
    for (std::uint32_t k = 0; k < f[n].operand_count; ++k)
      if (ir::value_id const u = f.operand(n, k); !f.is_literal(u))
        here.insert_or_assign(u, copied(u, at, here));
    (void)at.clone(f_, n, here);
    return here.at(v);
  }

  ir::program const& program_;
  ir::function_id f_;
  ir::node_id map_, inner_ = ir::nothing;
  std::vector<std::pair<ir::value_id, std::uint32_t>>
      variables_; // a value outside of the map, and the saved value
  bool is_of_row_ = false;
};

} // namespace overdub::increments
