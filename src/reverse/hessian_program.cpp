#include <overdub/forward_program.hpp>
#include <overdub/implementation/reverse/activity.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>
#include <overdub/reverse/hessian_program.hpp>

#include <string>
#include <vector>

namespace overdub {
namespace adjoint {

// Forward mode over the gradient: each number is followed by its tangent in parameters and results.
inline function_id forward_over_reverse(ir::program& p) {
  differentiate_entry(
      p, std::vector<bool>(p[p.entry].parameters().size(), true), false, {.calls = recursion::recomputed});
  p = forward_of(p);
  return p.entry;
}

// The tangents of the gradient along a direction.
inline std::vector<value_id> tangents_along(
    ir::cursor& at, function_id f, std::vector<value_id> const& x, std::vector<value_id> const& direction) {
  std::vector<value_id> operands;
  for (std::size_t i = 0; i < x.size(); ++i) {
    operands.push_back(x[i]);
    if (is_differentiable(at->type_of(x[i]))) operands.push_back(direction[i]);
  }
  std::vector<ir::type> const results = at.owner()[f].results;
  node_id const call = at.insert(op::call, operands, results, ir::attributes::of(f));
  std::vector<value_id> all;
  for (std::uint32_t i = 0; i < results.size(); ++i) {
    if (is_differentiable(results[i])) ++i; // its tangent is the next result
    all.push_back(at->result(call, i));
  }
  return all;
}

inline void finish(ir::program& p, ir::cursor& at, std::vector<value_id> const& results) {
  at.to_end(function::body);
  at.yield(results);
  for (value_id const v : results) p[at.id()].results.push_back(at->type_of(v));
  p.entry = at.id();
  pass::pass_runner const run(p);
  run("inline_calls");
  run("dce");
}

} // namespace adjoint

void take_hessian(ir::program& p) {
  using namespace adjoint;
  std::string const name = std::string(p.name_of(p.entry)) + ".hessian";
  ir::type const t = p[p.entry].type_of(p[p.entry].argument(function::body, 0));
  function_id const f = forward_over_reverse(p);
  function_id const made = p.add(name, std::span<ir::type const>(&t, 1));
  ir::cursor here(p, made, function::body);
  value_id const x = here->argument(function::body, 0);
  auto const one = [&] { return t.element == ir::scalar::f32 ? here.literal(1.0f) : here.literal(1.0); };
  if (t.rank == 0) return finish(p, here, tangents_along(here, f, {x}, {one()}));

  value_id const length = here.add(op::length, x);
  auto const rows = ir::builder(here).map(length, [&](value_id i) {
    value_id const zeros = here.add(op::fill, length, here.literal(t.element_type(), 0));
    return tangents_along(here, f, {x}, {here.add(op::update, zeros, i, one())});
  });
  finish(p, here, rows.results);
}

void multiply_by_hessian(ir::program& p) {
  using namespace adjoint;
  std::string const name = std::string(p.name_of(p.entry)) + ".hessian_vector_product";
  std::vector<ir::type> parameters;
  for (value_id const v : p[p.entry].parameters()) parameters.push_back(p[p.entry].type_of(v));
  std::size_t const count = parameters.size();
  for (std::size_t i = 0; i < count; ++i) parameters.push_back(ir::type(parameters[i]));
  function_id const f = forward_over_reverse(p);
  function_id const made = p.add(name, parameters);
  ir::cursor here(p, made, function::body);
  std::vector<value_id> x, direction;
  for (std::uint32_t i = 0; i < count; ++i) {
    x.push_back(here->argument(function::body, i));
    direction.push_back(here->argument(function::body, static_cast<std::uint32_t>(count) + i));
  }
  finish(p, here, tangents_along(here, f, x, direction));
}

} // namespace overdub
