#pragma once

#include <overdub/contexts/forward_program.hpp>
#include <overdub/contexts/reverse/activity.hpp>
#include <overdub/contexts/reverse/gradient_program.hpp>
#include <overdub/contexts/reverse/hessian_program.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/pass/dce.hpp>
#include <overdub/pass/inline.hpp>

#include <string>
#include <vector>

namespace overdub::contexts {
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
  pass::inline_calls(p);
  pass::dce(p);
}

} // namespace adjoint

OVERDUB_DECL void take_hessian(ir::program& p) {
  using namespace adjoint;
  std::string const name = std::string(p.name_of(p.entry)) + ".hessian";
  ir::type const t = p[p.entry].type_of(p[p.entry].argument(function::body, 0));
  function_id const f = forward_over_reverse(p);
  function_id const made = p.add(name, std::span<ir::type const>(&t, 1));
  ir::cursor at(p, made, function::body);
  value_id const x = at->argument(function::body, 0);
  auto const one = [&] { return t.element == ir::scalar::f32 ? at.literal(1.0f) : at.literal(1.0); };
  if (t.rank == 0) return finish(p, at, tangents_along(at, f, {x}, {one()}));

  value_id const size = at.add(op::length, x);
  ir::type const rows = t.array_of();
  std::vector<ir::type> const index[] = {{ir::i64}};
  node_id const map =
      at.insert(op::map, std::span<value_id const>(&size, 1), std::span<ir::type const>(&rows, 1), {}, index);
  at.to_end(at->region_at(map, 0));
  value_id const zeros = at.add(op::fill, size, at.literal(t.element_type(), 0));
  value_id const unit = at.add(op::update, zeros, at->argument(at->region_at(map, 0), 0), one());
  at.yield(tangents_along(at, f, {x}, {unit}));
  finish(p, at, {at->result(map)});
}

OVERDUB_DECL void multiply_by_hessian(ir::program& p) {
  using namespace adjoint;
  std::string const name = std::string(p.name_of(p.entry)) + ".hessian_vector_product";
  std::vector<ir::type> parameters;
  for (value_id const v : p[p.entry].parameters()) parameters.push_back(p[p.entry].type_of(v));
  std::size_t const size = parameters.size();
  for (std::size_t i = 0; i < size; ++i) parameters.push_back(ir::type(parameters[i]));
  function_id const f = forward_over_reverse(p);
  function_id const made = p.add(name, parameters);
  ir::cursor at(p, made, function::body);
  std::vector<value_id> x, direction;
  for (std::uint32_t i = 0; i < size; ++i) {
    x.push_back(at->argument(function::body, i));
    direction.push_back(at->argument(function::body, static_cast<std::uint32_t>(size) + i));
  }
  finish(p, at, tangents_along(at, f, x, direction));
}

} // namespace overdub::contexts
