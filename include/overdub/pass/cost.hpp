// An estimate of how long a program runs, in additions: the costs in the table of operations, loops counted as ten turns.
// Passes say whether they lower it; it is compared before and after, and means nothing by itself.
#pragma once

#include <overdub/ir/calls.hpp>
#include <overdub/pass/words.hpp>

#include <cstdint>
#include <vector>

namespace overdub::pass {

/// The costs of a program's functions, callees included; a recursive call costs the call alone. O(operations).
class costs {
public:
  /// How often a loop is thought to run.
  static constexpr double turns = 10;
  /// What a function value is thought to cost that comes from elsewhere.
  static constexpr double unknown_callee = 100;

  explicit costs(program const& p) : of_(p.functions.size(), 0) {
    ir::call_components const calls(p);
    for (function_id const f : calls.order()) {
      inside_.assign(p[f].region_count(), 0);
      ir::walk(
          p[f], function::body, [](node_id) {},
          [&](node_id n) { inside_[index_of(p[f][n].parent)] += of(p[f], n); });
      of_[index_of(f)] = inside_[0];
    }
  }

  double of(function_id f) const { return of_[index_of(f)]; }
  /// Of what a program does: of its entry, or of all functions.
  double of(program const& p) const {
    if (p.entry != nothing) return of(p.entry);
    double all = 0;
    for (double const cost : of_) all += cost;
    return all;
  }

private:
  double of(function const& f, node_id n) const {
    function::node const& node = f[n];
    double cost = ir::row_of(node.code).cost;
    bool const repeats =
        node.code == op::loop || node.code == op::while_ || node.code == op::map || node.code == op::reduce;
    for (region_id const r : f.regions_of(n)) cost += inside_[index_of(r)] * (repeats ? turns : 1);
    std::uint32_t const carried = node.code == op::loop ? node.operand_count - 1 : node.operand_count;
    if (node.code == op::loop || node.code == op::while_) cost += arrays(node.result_count - carried);
    if (node.code == op::map) cost += arrays(node.result_count);
    if (node.code == op::call) cost += of(node.attributes.callee());
    if (node.code == op::apply) {
      value_id const v = f.operand(n, 0);
      bool const known = f.is_result(v) && f[f.node_of(v)].code == op::closure;
      cost += known ? of(f[f.node_of(v)].attributes.callee()) : unknown_callee;
    }
    return cost;
  }

  // What loops stack.
  static double arrays(std::uint32_t count) {
    return static_cast<double>(ir::row_of(op::array).cost) * count;
  }

  std::vector<double> of_;
  std::vector<double> inside_; // of the function that is looked at, by region
};

/// O(operations).
inline double cost(program const& p) { return costs(p).of(p); }

} // namespace overdub::pass
