#pragma once

#include <overdub/contexts/reverse/activity.hpp>

#include <cstdint>
#include <vector>

namespace overdub::contexts::adjoint {

OVERDUB_DECL void activity::set(value_id v, change how) {
  if (index_of(v) >= of_.size()) of_.resize(index_of(v) + 1 + of_.size() / 2);
  of_[index_of(v)] = how;
}

OVERDUB_DECL activity::activity(function const& f, std::vector<bool> const& parameters, ir::program const* p)
    : f_(&f), p_(p), of_(f.value_count()) {
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

OVERDUB_DECL void activity::mark(value_id v) {
  ir::type const t = f_->type_of(v);
  if ((!ir::is_differentiable(t) && !is_closed(t)) || of_[index_of(v)] != change::none) return;
  of_[index_of(v)] = is_closed(t) ? change::hides : change::varies;
  open_.push_back(v);
}

OVERDUB_DECL void activity::follow(node_id n, std::uint32_t i) {
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
  case op::call:
    if (!is_constant(node.attributes.callee())) mark_results(n);
    return;
  default:
    mark_results(n);
  }
}

OVERDUB_DECL void activity::follow_yield(node_id owner, region_id r, std::uint32_t i) {
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

OVERDUB_DECL void activity::follow_accumulator(value_id v) {
  node_id const owner = (*f_)[f_->region_of(v)].parent;
  mark_result(owner, (*f_)[v].index);
}

OVERDUB_DECL void activity::follow_reduction(node_id n) {
  mark_results(n);
  for (region_id const r : f_->regions_of(n))
    for (value_id const v : f_->arguments_of(r)) mark(v);
}

} // namespace overdub::contexts::adjoint
