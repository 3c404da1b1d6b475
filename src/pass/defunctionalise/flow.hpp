// Control-flow analysis: which closures may reach each function value of a program, along all operations that copy values.
// It is 0-CFA (Shivers, Control-flow analysis in Scheme, 1988). Requires an entry from which all functions are reachable.
#pragma once

#include <overdub/ir/regions.hpp>
#include <overdub/pass/ir_names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace overdub::pass::detail {

/// Whether values of a type are function values, or arrays of them.
constexpr bool holds_functions(type t) { return t.element == ir::scalar::function; }

/// A closure as a function whose first parameters are captured. All closures with equal members are of one kind.
struct closure_kind {
  function_id callee = nothing;
  std::uint32_t captured = 0; // the number of captured parameters
  function_id made_in = nothing;
  node_id made_by = nothing; // the first such closure in that function
};

/// Sorted indices of kinds.
using kind_set = std::vector<std::uint32_t>;

/// The possible kinds of each function value of a program. Where a value is copied, or stored in an array, the destination
/// may have more kinds than the source. Arrays that may be the same array have equal sets. The program must outlive the
/// analysis.
class function_flow {
public:
  /// O(operations + kinds × (function values and copies of them)).
  explicit function_flow(program const& p) : p_(p) {
    for (function const& f : p.functions) {
      first_value_.push_back(spot_count_);
      spot_count_ += f.value_count();
      first_result_.push_back(spot_count_);
      spot_count_ += static_cast<std::uint32_t>(f.results.size());
    }
    may_be_.resize(spot_count_);
    goes_to_.resize(spot_count_);
    applied_by_.resize(spot_count_);
    for (std::uint32_t i = 0; i < p.functions.size(); ++i)
      ir::walk(p.functions[i], function::body, [&](node_id n) { add(function_id{i}, n); });
    while (!open_.empty()) {
      auto const [at, kind] = open_.back();
      open_.pop_back();
      for (std::size_t i = 0; i < goes_to_[at].size(); ++i) put(goes_to_[at][i], kind);
      for (std::size_t i = 0; i < applied_by_[at].size(); ++i) {
        auto const [f, n] = applied_by_[at][i];
        apply(f, n, kind);
      }
    }
  }

  program const& owner() const { return p_; }
  std::vector<closure_kind> const& kinds() const { return kinds_; }
  kind_set const& of(function_id f, value_id v) const { return may_be_[spot_of(f, v)]; }
  /// The kinds of a function's result.
  kind_set const& of_result(function_id f, std::uint32_t i) const { return may_be_[result_spot(f, i)]; }
  /// The kinds of a function's parameter.
  kind_set const& of_parameter(function_id f, std::uint32_t i) const {
    return of(f, p_[f].argument(function::body, i));
  }

private:
  using spot = std::uint32_t; // a value, or a result of a function

  spot spot_of(function_id f, value_id v) const { return first_value_[index_of(f)] + index_of(v); }
  spot result_spot(function_id f, std::uint32_t i) const { return first_result_[index_of(f)] + i; }
  spot parameter_spot(function_id f, std::uint32_t i) const {
    return spot_of(f, p_[f].argument(function::body, i));
  }

  void put(spot to, std::uint32_t kind) {
    kind_set& all = may_be_[to];
    auto const at = std::lower_bound(all.begin(), all.end(), kind);
    if (at != all.end() && *at == kind) return;
    all.insert(at, kind);
    open_.push_back({to, kind});
  }
  void go(spot from, spot to) {
    if (from == to) return;
    goes_to_[from].push_back(to);
    kind_set const known = may_be_[from];
    for (std::uint32_t const kind : known) put(to, kind);
  }
  void join(spot a, spot b) {
    go(a, b);
    go(b, a);
  }
  // Propagates between a value and a copy of it as a value of another type. Equates the sets of arrays.
  void propagate(type t, spot from, type as, spot to) {
    if (!holds_functions(t)) return;
    go(from, to);
    if (t.rank > 0 && as.rank > 0) go(to, from);
  }
  void propagate(function_id f, value_id from, value_id to) {
    propagate(p_[f].type_of(from), spot_of(f, from), p_[f].type_of(to), spot_of(f, to));
  }
  void join(function_id f, value_id a, value_id b) {
    if (holds_functions(p_[f].type_of(a))) join(spot_of(f, a), spot_of(f, b));
  }
  void to_parameter(function_id f, value_id from, function_id callee, std::uint32_t i) {
    type const t = p_[f].type_of(from);
    propagate(t, spot_of(f, from), t, parameter_spot(callee, i));
  }
  void from_result(function_id callee, std::uint32_t i, function_id f, value_id to) {
    type const t = p_[f].type_of(to);
    propagate(t, result_spot(callee, i), t, spot_of(f, to));
  }

  void add(function_id id, node_id n) {
    function const& f = p_[id];
    function::node const& node = f[n];
    switch (node.code) {
    case op::closure:
      for (std::uint32_t i = 0; i < node.operand_count; ++i)
        to_parameter(id, f.operand(n, i), node.attributes.callee(), i);
      return put(spot_of(id, f.result(n)), kind_of(id, n));
    case op::apply:
      applied_by_[spot_of(id, f.operand(n, 0))].push_back({id, n});
      return;
    case op::call:
      for (std::uint32_t i = 0; i < node.operand_count; ++i)
        to_parameter(id, f.operand(n, i), node.attributes.callee(), i);
      for (std::uint32_t i = 0; i < node.result_count; ++i)
        from_result(node.attributes.callee(), i, id, f.result(n, i));
      return;
    default:
      break;
    }
    if (node.code == op::yield || node.region_count > 0) return add_structured(id, n);
    // Copies of data; numbers carry no function value.
    if (node.result_count != 1 || !holds_functions(f.type_of(f.result(n)))) return;
    for (value_id const v : f.operands_of(n)) propagate(id, v, f.result(n));
  }
  void add_structured(function_id id, node_id n) {
    function const& f = p_[id];
    bool const ends = f[n].code == op::yield && ir::owner_of(f, n) == nothing; // the body of the function
    for (std::uint32_t i = 0; i < f[n].operand_count; ++i) {
      value_id const v = f.operand(n, i);
      type const t = f.type_of(v);
      if (!holds_functions(t)) continue;
      if (ends) propagate(t, spot_of(id, v), t, result_spot(id, i));
      ir::for_each_destination(f, n, i, [&](value_id to) { propagate(id, v, to); });
    }
    if (ir::row_of(f[n].code).has(ir::region_traits::combines)) // elements have the tags of their arrays
      for (std::uint32_t i = 0; i < f[n].result_count; ++i) join(id, f.operand(n, i), f.result(n, i));
  }
  // Propagates through an application of a closure of this kind.
  void apply(function_id id, node_id n, std::uint32_t kind) {
    function const& f = p_[id];
    auto const [callee, captured] = std::pair(kinds_[kind].callee, kinds_[kind].captured);
    for (std::uint32_t i = 1; i < f[n].operand_count; ++i)
      to_parameter(id, f.operand(n, i), callee, captured + i - 1);
    for (std::uint32_t i = 0; i < f[n].result_count; ++i) from_result(callee, i, id, f.result(n, i));
  }
  std::uint32_t kind_of(function_id f, node_id n) {
    function::node const& node = p_[f][n];
    auto const [at, added] = number_of_.try_emplace(
        {node.attributes.subject, node.operand_count}, static_cast<std::uint32_t>(kinds_.size()));
    if (added) kinds_.push_back({node.attributes.callee(), node.operand_count, f, n});
    return at->second;
  }

  program const& p_;
  std::vector<closure_kind> kinds_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> number_of_;
  // Values are numbered across functions; the results of a function come after its values.
  std::vector<spot> first_value_, first_result_;
  spot spot_count_ = 0;
  std::vector<kind_set> may_be_;
  std::vector<std::vector<spot>> goes_to_;
  std::vector<std::vector<std::pair<function_id, node_id>>> applied_by_;
  std::vector<std::pair<spot, std::uint32_t>> open_;
};

} // namespace overdub::pass::detail
