#include <overdub/implementation/reverse/gradients.hpp>
#include <overdub/implementation/reverse/prepare.hpp>
#include <overdub/reverse/pullback_program.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace overdub {
namespace adjoint {

// Splits the gradient of a program's entry into two functions: the forward pass, whose results include the residuals, and the backward
// pass, which has the residuals as parameters.
class split_passes {
public:
  explicit split_passes(ir::program& p)
      : p_(p), f_(p.entry), parameters_(static_cast<std::uint32_t>(p[f_].parameters().size())) {
    gradient_request wanted;
    for (std::uint32_t i = 0; i < parameters_; ++i)
      wanted.inputs.push_back(ir::is_differentiable(type_of_parameter(i)));
    for (ir::type const t : p_[f_].results) wanted.results.push_back(ir::is_differentiable(t));
    call_ = gradients(p, {.calls = recursion::recomputed, .loops = {}}).of_call(f_, wanted);
  }

  void first() {
    std::vector<ir::type> parameters;
    for (std::uint32_t i = 0; i < parameters_; ++i) parameters.push_back(type_of_parameter(i));
    ir::cursor at = make(".first_half", parameters);
    std::vector<value_id> given;
    for (std::uint32_t i = 0; i < parameters_; ++i) given.push_back(at->argument(function::body, i));
    function_id const callee = call_.forward == ir::nothing ? f_ : call_.forward;
    node_id const n = at.insert(op::call, given, p_[callee].results, ir::attributes::of(callee));
    std::vector<value_id> results(at->results_of(n).begin(), at->results_of(n).end());
    auto const values = static_cast<std::ptrdiff_t>(p_[f_].results.size());
    std::vector<value_id> saved(results.begin() + values, results.end());
    results.resize(p_[f_].results.size());
    std::vector<value_id> const primal_results = results;
    for (std::uint32_t const i : call_.arguments) results.push_back(given[i]);
    if (call_.takes_results) results.insert(results.end(), primal_results.begin(), primal_results.end());
    results.insert(results.end(), saved.begin(), saved.end());
    finish(at, results);
  }

  void second() {
    std::vector<ir::type> parameters;
    for (std::uint32_t const i : call_.arguments) parameters.push_back(type_of_parameter(i));
    if (call_.takes_results)
      for (ir::type const t : p_[f_].results) parameters.push_back(t);
    parameters.insert(parameters.end(), call_.saved.begin(), call_.saved.end());
    std::size_t const saved = parameters.size();
    for (ir::type const t : p_[f_].results) parameters.push_back(t);
    ir::cursor at = make(".second_half", parameters);
    std::vector<value_id> operands;
    for (std::uint32_t i = 0; i < parameters.size(); ++i)
      if (i < saved || ir::is_differentiable(parameters[i]))
        operands.push_back(at->argument(function::body, i));
    node_id const n =
        at.insert(op::call, operands, p_[call_.backward].results, ir::attributes::of(call_.backward));
    std::vector<value_id> results;
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < parameters_; ++i) {
      ir::type const t = type_of_parameter(i);
      results.push_back(ir::is_differentiable(t) ? at->result(n, next++) : ir::zero_value(at, t));
    }
    finish(at, results);
  }

private:
  ir::type type_of_parameter(std::uint32_t i) const {
    return p_[f_].type_of(p_[f_].argument(function::body, i));
  }
  ir::cursor make(char const* suffix, std::vector<ir::type> const& parameters) {
    std::string name = std::string(p_.name_of(f_)) + suffix;
    while (p_.find(name)) name += '\'';
    function_id const made = p_.add(name, parameters);
    p_[made].place = p_[f_].place;
    return ir::cursor(p_, made, function::body);
  }
  void finish(ir::cursor& at, std::vector<value_id> const& results) {
    at.yield(results);
    for (value_id const v : results) p_[at.id()].results.push_back(at->type_of(v));
    p_.entry = at.id();
    pass::pass_runner const run(p_);
    run("inline_calls");
    run("dce");
  }

  ir::program& p_;
  function_id f_;
  std::uint32_t parameters_;
  call_gradient call_;
};

} // namespace adjoint

void to_forward_pass(ir::program& p) {
  adjoint::prepare(p);
  adjoint::split_passes(p).first();
}

void to_backward_pass(ir::program& p) {
  adjoint::prepare(p);
  adjoint::split_passes(p).second();
}

} // namespace overdub
