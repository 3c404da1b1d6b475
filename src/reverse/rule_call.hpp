// The gradient of a function with a derivative rule: calls of the rule.
#pragma once

#include <overdub/implementation/reverse/cotangents.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <cstdint>
#include <vector>

namespace overdub::adjoint {

class rule_call {
public:
  using values = std::vector<value_id>;

  /// Writes into a function whose parameters are those of f, the results of f (if `takes_results`), and the given
  /// cotangents.
  rule_call(ir::program& p, ir::cursor& at, function_id f, gradient_request const& wanted, bool takes_results)
      : p_(p), at_(at), f_(f), wanted_(wanted), none_vary_(p[at.id()]), zeros_(at, none_vary_) {
    auto const count = static_cast<std::uint32_t>(wanted.inputs.size());
    for (std::uint32_t i = 0; i < count; ++i) parameters_.push_back(at->argument(function::body, i));
    std::uint32_t next = count;
    if (takes_results)
      while (results_.size() < wanted.results.size())
        results_.push_back(at->argument(function::body, next++));
    for (bool const is_given : wanted.results)
      cotangents_.push_back(is_given ? at->argument(function::body, next++) : value_id(ir::nothing));
  }

  /// The results of f: of one call, emitted on first use.
  values const& results() {
    if (!results_.empty() || cotangents_.empty()) return results_;
    node_id const n = at_.insert(op::call, parameters_, p_[f_].results, ir::attributes::of(f_));
    for (value_id const v : at_->results_of(n)) results_.push_back(v);
    return results_;
  }
  /// The gradient of a function that is declared a constant.
  values constant() {
    values all;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (wanted_.inputs[i]) all.push_back(zeros_.zeros_like(parameters_[i]));
    return all;
  }
  /// The gradient by a cotangent rule.
  values cotangent(function_id rule) {
    values operands = operands_of(rule);
    for (std::uint32_t i = 0; i < cotangents_.size(); ++i)
      if (ir::is_differentiable(p_[f_].results[i]))
        operands.push_back(cotangents_[i] != ir::nothing ? cotangents_[i] : no_cotangent(i));
    node_id const n = at_.insert(op::call, operands, p_[rule].results, ir::attributes::of(rule));
    values all;
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!ir::is_differentiable(at_->type_of(parameters_[i]))) continue;
      if (wanted_.inputs[i]) all.push_back(at_->result(n, next));
      ++next;
    }
    return all;
  }
  /// The request that transposes a tangent rule: the gradient of the tangents, which are linear in the input tangents, by
  /// those.
  gradient_request of_tangent() const {
    gradient_request of;
    of.returns_results = false;
    of.inputs.assign(cotangents_.size() + parameters_.size(), false);
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (ir::is_differentiable(at_->type_of(parameters_[i]))) of.inputs.push_back(wanted_.inputs[i]);
    for (std::size_t i = 0; i < cotangents_.size(); ++i)
      if (ir::is_differentiable(p_[f_].results[i])) of.results.push_back(wanted_.results[i]);
    return of;
  }
  values transposed(function_id tangent, function_id gradient) {
    values operands = operands_of(tangent);
    for (value_id const v : parameters_)
      if (ir::is_differentiable(at_->type_of(v))) operands.push_back(zeros_.zeros_like(v));
    for (value_id const v : cotangents_)
      if (v != ir::nothing) operands.push_back(v);
    node_id const n = at_.insert(op::call, operands, p_[gradient].results, ir::attributes::of(gradient));
    values all;
    for (value_id const v : at_->results_of(n)) all.push_back(v);
    return all;
  }

private:
  // The results, which are computed only where the rule reads them, and the parameters.
  values operands_of(function_id rule) {
    values operands;
    for (std::uint32_t i = 0; i < cotangents_.size(); ++i) {
      ir::type const t = p_[f_].results[i];
      bool const is_used = p_[rule].is_used(p_[rule].argument(function::body, i));
      if (is_used || !results_.empty())
        operands.push_back(results()[i]);
      else if (t.rank == 0)
        operands.push_back(zeros_.zero(t));
      else
        operands.push_back(at_->result(at_.insert(op::array, {}, std::span<ir::type const>(&t, 1))));
    }
    operands.insert(operands.end(), parameters_.begin(), parameters_.end());
    return operands;
  }
  value_id no_cotangent(std::uint32_t i) {
    ir::type const t = p_[f_].results[i];
    return t.rank == 0 ? zeros_.zero(t) : zeros_.zeros_like(results()[i]);
  }

  ir::program& p_;
  ir::cursor& at_;
  function_id f_;
  gradient_request const& wanted_;
  activity none_vary_;
  cotangents zeros_;
  values parameters_, cotangents_, results_;
};

} // namespace overdub::adjoint
