// Splits a function that runs forwards and then backwards into its passes: the forward pass returns the values and the
// residuals, which the backward pass takes.
#pragma once

#include <overdub/implementation/reverse/residuals.hpp>
#include <overdub/ir/cursor.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace overdub::adjoint {

/// Where a function of values and cotangents is split, and which residuals the backward pass needs.
class split {
public:
  /// `end` yields the primal results. The operations after it are the adjoint, and end in a yield of the cotangents.
  /// `inputs` is the number of parameters that are no cotangents. O(operations).
  split(
      ir::program& p, callee_properties const& callees, function_id combined, node_id end,
      std::uint32_t inputs)
      : p_(p), combined_(combined), inputs_(inputs) {
    primal_copy const forward(function::body, function::body, ir::nothing, end);
    for (node_id const n : forward.nodes(f())) forward_.push_back(n);
    for (node_id n = f()[end].next; n != ir::nothing; n = f()[n].next) backward_.push_back(n);
    for (value_id const v : f().operands_of(end)) values_.push_back(v);
    residuals const chosen(f(), callees, forward, false, false, {});
    is_possible_ = chosen.is_possible();
    saved_ = chosen.saved();
    find_needed();
  }

  bool is_possible() const { return is_possible_; }
  /// The parameters that the backward pass takes, before the residuals.
  std::vector<std::uint32_t> const& arguments() const { return arguments_; }
  std::vector<ir::type> saved() const {
    std::vector<ir::type> types;
    for (value_id const v : saved_) types.push_back(f().type_of(v));
    return types;
  }

  /// Adds the forward pass.
  function_id forward(std::string const& name) const {
    return forward(name, saved(), [&](ir::cursor&, value_map<value_id> const& map) { return saved_in(map); });
  }
  /// Adds the forward pass with one residual: a function value of type `of`, which maps cotangents to cotangents by the
  /// backward pass.
  void close_over(function_id made, function_id backward, ir::type of) const {
    write_forward(made, [&](ir::cursor& to, value_map<value_id> const& map) {
      std::vector<value_id> captured;
      for (std::uint32_t const i : arguments_) captured.push_back(to->argument(function::body, i));
      for (value_id const v : saved_in(map)) captured.push_back(v);
      node_id const closure =
          to.insert(op::closure, captured, std::span<ir::type const>(&of, 1), ir::attributes::of(backward));
      return std::vector<value_id>{to->result(closure)};
    });
  }
  /// Adds the backward pass: it takes arguments, residuals and cotangents.
  function_id backward(std::string const& name) const {
    std::vector<ir::type> parameters;
    for (std::uint32_t const i : arguments_) parameters.push_back(type_of_parameter(i));
    for (value_id const v : saved_) parameters.push_back(f().type_of(v));
    auto const all = static_cast<std::uint32_t>(f().parameters().size());
    for (std::uint32_t i = inputs_; i < all; ++i) parameters.push_back(type_of_parameter(i));
    function_id const made = p_.add(name, parameters);
    p_[made].place = f().place;
    ir::cursor to(p_, made, function::body);
    value_map<value_id> map;
    std::uint32_t next = 0;
    for (std::uint32_t const i : arguments_)
      map.insert_or_assign(parameter(i), to->argument(function::body, next++));
    std::vector<value_id> given;
    for (std::size_t i = 0; i < saved_.size(); ++i) given.push_back(to->argument(function::body, next++));
    for (std::uint32_t i = inputs_; i < all; ++i)
      map.insert_or_assign(parameter(i), to->argument(function::body, next++));
    value_map<value_id> instead; // residuals, where an operation is cloned for its other results
    for (std::size_t i = 0; i < saved_.size(); ++i) instead.insert_or_assign(saved_[i], given[i]);
    for (std::size_t i = 0; i < saved_.size(); ++i) map.insert_or_assign(saved_[i], given[i]);
    for (node_id const n : forward_) {
      if (!is_needed_[index_of(n)]) continue;
      (void)to.clone(combined_, n, map);
      for (value_id const v : f().results_of(n))
        if (auto const saved = instead.find(v); saved != instead.end())
          map.insert_or_assign(v, saved->second);
    }
    for (node_id const n : backward_) (void)to.clone(combined_, n, map);
    for (value_id const v : f().operands_of(backward_.back())) p_[made].results.push_back(f().type_of(v));
    return made;
  }

private:
  function const& f() const { return p_[combined_]; }
  value_id parameter(std::uint32_t i) const { return f().argument(function::body, i); }
  ir::type type_of_parameter(std::uint32_t i) const { return f().type_of(parameter(i)); }
  std::vector<value_id> saved_in(value_map<value_id> const& map) const {
    std::vector<value_id> all;
    for (value_id const v : saved_) all.push_back(map.find(v)->second);
    return all;
  }

  // Which primal operations are recomputed, and which parameters the backward pass uses.
  void find_needed() {
    is_needed_.resize(f().node_count());
    std::vector<bool> known(f().value_count()), is_argument(inputs_);
    for (value_id const v : saved_) known[index_of(v)] = true;
    std::vector<node_id> open = backward_;
    while (!open.empty()) {
      node_id const n = open.back();
      open.pop_back();
      auto const look = [&](node_id m) {
        for (value_id const v : f().operands_of(m)) {
          if (f().is_literal(v) || known[index_of(v)] || f().region_of(v) != function::body) continue;
          known[index_of(v)] = true;
          if (f().is_argument(v)) {
            if (f()[v].index < inputs_) is_argument[f()[v].index] = true;
          } else if (node_id const maker = f().node_of(v); !is_needed_[index_of(maker)]) {
            is_needed_[index_of(maker)] = true;
            open.push_back(maker);
          }
        }
      };
      look(n);
      for (region_id const r : f().regions_of(n)) ir::walk(f(), r, look);
    }
    for (std::uint32_t i = 0; i < inputs_; ++i)
      if (is_argument[i]) arguments_.push_back(i);
  }

  template <class More>
  function_id
  forward(std::string const& name, std::vector<ir::type> const& more, More const& give_more) const {
    std::vector<ir::type> parameters;
    for (std::uint32_t i = 0; i < inputs_; ++i) parameters.push_back(type_of_parameter(i));
    function_id const made = p_.add(name, parameters);
    for (value_id const v : values_) p_[made].results.push_back(f().type_of(v));
    p_[made].results.insert(p_[made].results.end(), more.begin(), more.end());
    write_forward(made, give_more);
    return made;
  }
  template <class More>
  void write_forward(function_id made, More const& give_more) const {
    p_[made].place = f().place;
    ir::cursor to(p_, made, function::body);
    value_map<value_id> map;
    for (std::uint32_t i = 0; i < inputs_; ++i)
      map.insert_or_assign(parameter(i), to->argument(function::body, i));
    for (node_id const n : forward_) (void)to.clone(combined_, n, map);
    std::vector<value_id> results;
    for (value_id const v : values_) results.push_back(mapped(to, map, v));
    for (value_id const v : give_more(to, map)) results.push_back(v);
    to.yield(results);
  }
  // Literals belong to a function, and are recreated in the target.
  value_id mapped(ir::cursor& to, value_map<value_id> const& map, value_id v) const {
    if (f().is_literal(v)) return to.literal(f().type_of(v), f().bits_of(v));
    return map.find(v)->second;
  }

  ir::program& p_;
  function_id combined_;
  std::uint32_t inputs_;
  std::vector<node_id> forward_, backward_;
  std::vector<value_id> values_, saved_;
  std::vector<bool> is_needed_; // by operation
  std::vector<std::uint32_t> arguments_;
  bool is_possible_ = true;
};

} // namespace overdub::adjoint
