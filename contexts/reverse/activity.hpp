// Which values of a function change with some of its parameters.
#pragma once

#include <overdub/ir/function.hpp>

#include <cstdint>
#include <vector>

namespace overdub::contexts::adjoint {

using ir::function;
using ir::function_id;
using ir::node_id;
using ir::op;
using ir::region_id;
using ir::value_id;

/// Whether values of a type have derivatives: floating-point numbers, and arrays of them.
constexpr bool is_differentiable(ir::type t) {
  return t.element == ir::scalar::f32 || t.element == ir::scalar::f64;
}

/// The values of a function that change with some of its parameters, as far as they have derivatives. What a callee computes is
/// thought to depend on all of its arguments.
class activity {
public:
  /// O(uses of the values that change).
  activity(function const& f, std::vector<bool> const& parameters) : f_(&f), varies_(f.value_count()) {
    for (std::uint32_t i = 0; i < parameters.size(); ++i)
      if (parameters[i]) mark(f.argument(function::body, i));
    while (!open_.empty()) {
      value_id const v = open_.back();
      open_.pop_back();
      for (ir::use_id const u : f.uses_of(v)) {
        node_id const n = f[u].user;
        follow(n, index_of(u) - f[n].first_operand);
      }
    }
  }

  bool varies(value_id v) const { return index_of(v) < varies_.size() && varies_[index_of(v)] != 0; }
  /// Of values that came later.
  void set(value_id v, bool does) {
    if (index_of(v) >= varies_.size()) varies_.resize(index_of(v) + 1 + varies_.size() / 2);
    varies_[index_of(v)] = does;
  }

private:
  void mark(value_id v) {
    ir::type const t = f_->type_of(v);
    if (!is_differentiable(t) || varies_[index_of(v)] != 0) return;
    varies_[index_of(v)] = 1;
    open_.push_back(v);
  }
  void mark_result(node_id n, std::uint32_t i) { mark(f_->result(n, i)); }
  void mark_argument(node_id n, std::uint32_t region, std::uint32_t i) {
    mark(f_->argument(f_->region_at(n, region), i));
  }
  void mark_results(node_id n) {
    for (value_id const v : f_->results_of(n)) mark(v);
  }

  // An operand of an operation changes.
  void follow(node_id n, std::uint32_t i) {
    function::node const& node = (*f_)[n];
    switch (node.code) {
    case op::yield:
      if (node_id const owner = (*f_)[node.parent].parent; owner != ir::nothing)
        follow_yield(owner, node.parent, i);
      return;
    case op::loop:
      mark_argument(n, 0, i);
      mark_result(n, i - 1);
      return;
    case op::while_:
      mark_argument(n, 0, i);
      mark_argument(n, 1, i);
      mark_result(n, i);
      return;
    case op::accumulate:
      mark_argument(n, 0, i);
      mark_result(n, i);
      return;
    case op::add_to:
      mark(f_->operand(n, 0));
      follow_accumulator(f_->operand(n, 0));
      return;
    case op::reduce:
      follow_reduction(n);
      return;
    default:
      mark_results(n);
    }
  }
  void follow_yield(node_id owner, region_id r, std::uint32_t i) {
    function::node const& node = (*f_)[owner];
    switch (node.code) {
    case op::loop:
      mark_result(owner, i);
      if (i + 1 < node.operand_count) mark_argument(owner, 0, i + 1);
      return;
    case op::while_:
      if (r != f_->region_at(owner, 1)) return;
      mark_result(owner, i);
      if (i < node.operand_count) {
        mark_argument(owner, 0, i);
        mark_argument(owner, 1, i);
      }
      return;
    case op::accumulate:
      mark_result(owner, node.operand_count + i);
      return;
    case op::reduce:
      follow_reduction(owner);
      return;
    case op::protect:
      if (r == f_->region_at(owner, 0)) mark_result(owner, i);
      return;
    default: // if, map
      mark_result(owner, i);
    }
  }
  void follow_accumulator(value_id v) {
    node_id const owner = (*f_)[f_->region_of(v)].parent;
    mark_result(owner, (*f_)[v].index);
  }
  void follow_reduction(node_id n) {
    mark_results(n);
    for (region_id const r : f_->regions_of(n))
      for (value_id const v : f_->arguments_of(r)) mark(v);
  }

  function const* f_;
  std::vector<std::uint8_t> varies_; // by value
  std::vector<value_id> open_;
};

} // namespace overdub::contexts::adjoint
