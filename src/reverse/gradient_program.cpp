#include <overdub/implementation/reverse/gradients.hpp>
#include <overdub/implementation/reverse/loop_fusion.hpp>
#include <overdub/implementation/reverse/prepare.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <string>
#include <utility>
#include <vector>

namespace overdub {

ir::function_id add_gradient(
    ir::program& p, ir::function_id f, gradient_request const& wanted, gradient_options const& options) {
  return adjoint::gradients(p, options).of(f, wanted);
}

namespace adjoint {

// Writes a new entry that calls the gradient of the old one.
class entry_writer {
public:
  // The parameters of the old entry, then `more`.
  entry_writer(
      ir::program& p, std::string const& suffix, std::vector<ir::type> const& more,
      gradient_options const& options)
      : p_(p), options_(options), original_(p.entry),
        first_generated_(static_cast<std::uint32_t>(p.functions.size())), made_(add(suffix, more)),
        at_(p, made_, function::body) {
    for (value_id const v : p[made_].parameters()) parameters_.push_back(v);
  }

  ir::cursor& at() { return at_; }
  value_id parameter(std::size_t i) const { return parameters_[i]; }
  function const& original() const { return p_[original_]; }
  ir::type type_of_input(std::size_t i) const {
    return original().type_of(original().argument(function::body, static_cast<std::uint32_t>(i)));
  }
  std::size_t inputs() const { return original().parameters().size(); }

  /// The value, if requested, and the requested derivatives; 0, or an empty array, for parameters that are not
  /// differentiable.
  std::vector<value_id>
  gradient(std::vector<bool> const& requested, std::vector<value_id> const& cotangents, bool returns_value) {
    gradient_request wanted;
    wanted.returns_results = returns_value;
    for (ir::type const t : original().results) wanted.results.push_back(ir::is_differentiable(t));
    for (std::size_t i = 0; i < inputs(); ++i)
      wanted.inputs.push_back(requested[i] && ir::is_differentiable(type_of_input(i)));
    function_id const gradient = add_gradient(p_, original_, wanted, options_);
    std::vector<value_id> operands(
        parameters_.begin(), parameters_.begin() + static_cast<std::ptrdiff_t>(inputs()));
    operands.insert(operands.end(), cotangents.begin(), cotangents.end());
    node_id const call = at_.insert(op::call, operands, p_[gradient].results, ir::attributes::of(gradient));
    std::vector<value_id> all;
    std::uint32_t next = 0;
    if (returns_value)
      while (next < original().results.size()) all.push_back(at_->result(call, next++));
    for (std::size_t i = 0; i < inputs(); ++i)
      if (requested[i])
        all.push_back(wanted.inputs[i] ? at_->result(call, next++) : ir::zero_value(at_, type_of_input(i)));
    return all;
  }
  value_id one(ir::type t) { return t == ir::f32 ? at_.literal(1.0f) : at_.literal(1.0); }

  void finish(std::vector<value_id> const& results) {
    at_.to_end(function::body);
    at_.yield(results);
    for (value_id const v : results) p_[made_].results.push_back(at_->type_of(v));
    p_.entry = made_;
    pass::pass_runner const run(p_);
    run("inline_calls");
    fuse_loops(p_, first_generated_);
  }

private:
  function_id add(std::string const& suffix, std::vector<ir::type> const& more) {
    std::vector<ir::type> parameters;
    for (value_id const v : p_[original_].parameters()) parameters.push_back(p_[original_].type_of(v));
    parameters.insert(parameters.end(), more.begin(), more.end());
    std::string name = std::string(p_.name_of(original_)) + suffix;
    while (p_.find(name)) name += '\'';
    function_id const made = p_.add(name, parameters);
    p_[made].place = p_[original_].place;
    return made;
  }
  ir::program& p_;
  gradient_options options_;
  function_id original_;
  std::uint32_t first_generated_; // functions from this index on belong to the gradient
  function_id made_;
  ir::cursor at_;
  std::vector<value_id> parameters_;
};

} // namespace adjoint

void differentiate_entry(
    ir::program& p, std::vector<bool> const& requested, bool returns_value, gradient_options const& options) {
  adjoint::prepare(p);
  adjoint::entry_writer w(p, returns_value ? ".and_slopes" : ".slopes", {}, options);
  w.finish(w.gradient(requested, {w.one(w.original().results[0])}, returns_value));
}

void transpose_entry(ir::program& p, gradient_options const& options) {
  adjoint::prepare(p);
  std::vector<ir::type> cotangents;
  for (ir::type const t : p[p.entry].results) cotangents.push_back(t); // those of integers are ignored
  adjoint::entry_writer w(p, ".transposed", cotangents, options);
  std::vector<ir::value_id> given;
  for (std::size_t i = 0; i < cotangents.size(); ++i)
    if (ir::is_differentiable(cotangents[i])) given.push_back(w.parameter(w.inputs() + i));
  w.finish(w.gradient(std::vector<bool>(w.inputs(), true), given, false));
}

void take_jacobian(ir::program& p, gradient_options const& options) {
  using namespace adjoint;
  prepare(p);
  function_id const original = p.entry;
  ir::type const t = p[original].results[0].element_type();
  entry_writer w(p, ".jacobian", {}, options);
  ir::cursor& here = w.at();
  value_id const x = w.parameter(0);
  node_id const value = here.insert(
      op::call, std::span<value_id const>(&x, 1), p[original].results, ir::attributes::of(original));
  value_id const length = here.add(op::length, here->result(value));
  auto const rows = ir::builder(here).map(length, [&](value_id i) {
    value_id const zeros = here.add(op::fill, length, here.literal(t, 0));
    return w.gradient({true}, {here.add(op::update, zeros, i, w.one(t))}, false);
  });
  w.finish(rows.results);
}

} // namespace overdub
