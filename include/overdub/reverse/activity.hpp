// Activity analysis (Hascoët and Pascual, The Tapenade automatic differentiation tool, 2013): finds the values that vary with the
// differentiated inputs, by forward data flow along uses.
#pragma once

#include <overdub/ir/program.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>
#include <vector>

namespace overdub::adjoint {

using ir::function;
using ir::function_id;
using ir::is_differentiable;
using ir::node_id;
using ir::op;
using ir::region_id;
using ir::value_id;

/// Whether a type is opaque: host objects and function values may contain numbers.
constexpr bool is_opaque(ir::type t) {
  return t.element == ir::scalar::opaque || t.element == ir::scalar::function;
}

/// How a value varies: it does not vary; it is a number or an array that varies; or it is opaque, and may hide one that varies.
enum class activity_state : std::uint8_t { none, varies, hides };

/// The values of a function that vary with some of its parameters and have derivatives. All results of a callee are assumed
/// to depend on all of its arguments, unless its derivative rule declares it a constant.
class activity {
public:
  /// O(uses of the values that vary).
  activity(ir::program const& p, function_id f, std::vector<bool> const& parameters)
      : activity(p[f], parameters, &p) {}
  /// For a function in which no value varies yet.
  explicit activity(function const& f) : activity(f, {}, nullptr) {}

  activity_state of(value_id v) const {
    return index_of(v) < of_.size() ? of_[index_of(v)] : activity_state::none;
  }
  bool varies(value_id v) const { return of(v) == activity_state::varies; }
  /// Sets the activity of a value, which may have been added after the analysis.
  void set(value_id v, activity_state how) {
    if (index_of(v) >= of_.size()) of_.resize(index_of(v) + 1 + of_.size() / 2);
    of_[index_of(v)] = how;
  }
  void set(value_id v, bool does) { set(v, does ? activity_state::varies : activity_state::none); }

private:
  activity(function const& f, std::vector<bool> const& parameters, ir::program const* p)
      : f_(&f), p_(p), of_(f.value_count()) {
    for (std::uint32_t i = 0; i < parameters.size(); ++i)
      if (parameters[i]) mark(f.argument(function::body, i));
    while (!open_.empty()) {
      value_id const v = open_.back();
      open_.pop_back();
      for (ir::use_id const u : f.uses_of(v)) {
        node_id const n = f[u].user;
        propagate(n, index_of(u) - f[n].first_operand);
      }
    }
  }

  void mark(value_id v) {
    ir::type const t = f_->type_of(v);
    if ((!ir::is_differentiable(t) && !is_opaque(t)) || of_[index_of(v)] != activity_state::none) return;
    of_[index_of(v)] = is_opaque(t) ? activity_state::hides : activity_state::varies;
    open_.push_back(v);
  }
  void mark_results(node_id n) {
    for (value_id const v : f_->results_of(n)) mark(v);
  }
  bool is_constant(function_id callee) const {
    return (*p_)[callee].derivative.how == ir::derivative::by::constant;
  }

  // Propagates from operand `i` of an operation, which varies.
  void propagate(node_id n, std::uint32_t i) {
    function::node const& node = (*f_)[n];
    node_id const owner = ir::owner_of(*f_, n);
    switch (node.code) {
    case op::add_to:
      mark(f_->operand(n, 0));
      follow_accumulator(f_->operand(n, 0));
      return;
    case op::reduce:
      follow_reduction(n);
      return;
    case op::call:
      if (!node.attributes.is_exempt() && !is_constant(node.attributes.callee())) mark_results(n);
      return;
    case op::yield:
      if (owner != ir::nothing && (*f_)[owner].code == op::reduce) return follow_reduction(owner);
      break;
    default:
      if (node.region_count == 0) return mark_results(n);
    }
    ir::for_each_destination(*f_, n, i, [&](value_id v) { mark(v); });
  }
  void follow_accumulator(value_id v) { mark(f_->result(ir::owner_of(*f_, v), (*f_)[v].index)); }
  void follow_reduction(node_id n) {
    mark_results(n);
    for (region_id const r : f_->regions_of(n))
      for (value_id const v : f_->arguments_of(r)) mark(v);
  }

  function const* f_;
  ir::program const* p_;   // for calls
  std::vector<activity_state> of_; // for each value
  std::vector<value_id> open_;
};

} // namespace overdub::adjoint
