// Rewrites the functions of a program, with parts in place of function values.
#pragma once

#include <overdub/implementation/pass/defunctionalise/applications.hpp>
#include <overdub/implementation/pass/replace_by_empty.hpp>
#include <overdub/ir/function_types.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::pass::detail {

/// Rewrites one function after another. Functions without function values stay unchanged.
class data_writer {
public:
  /// `known` is the analysis of `from`, and `into` a copy of `from`.
  data_writer(program const& from, program& into, representations& known)
      : from_(from), p_(into), known_(known), flow_(known.flow()), applications_(into, known) {}

  /// Returns the number of operations that created, applied or reabstracted function values.
  std::size_t run() {
    std::vector<function_id> changed;
    for (std::uint32_t i = 0; i < from_.functions.size(); ++i)
      if (ir::any_function_value(from_.functions[i], anywhere)) changed.push_back(function_id{i});
    for (function_id const f : changed) declare(f);
    for (function_id const f : changed) write(f);
    applications_.write();
    return count_;
  }

private:
  static bool anywhere(function const&, value_id) { return true; }
  static void append(parts& all, parts const& more) { applications::append(all, more); }
  static void append(std::vector<type>& all, std::vector<type> const& more) {
    applications::append(all, more);
  }
  type type_of(value_id v) const { return f_->type_of(v); }
  kind_set const& kinds_of(value_id v) const { return flow_.of(id_, v); }
  std::vector<type> types_of(value_id v) const { return known_.types_of(type_of(v), kinds_of(v)); }

  void declare(function_id id) {
    function const& f = from_[id];
    std::vector<type> parameters, results;
    for (value_id const v : f.parameters())
      append(parameters, known_.types_of(f.type_of(v), flow_.of(id, v)));
    for (std::uint32_t i = 0; i < f.results.size(); ++i)
      append(results, known_.types_of(f.results[i], flow_.of_result(id, i)));
    bool same = results == f.results;
    for (value_id const v : f.parameters()) same = same && !holds_functions(f.type_of(v));
    (void)replace_by_empty(p_, id, parameters);
    p_[id].results = std::move(results);
    if (!same) p_[id].structure = nothing; // it described the old parameters and results
  }
  void write(function_id id) {
    id_ = id;
    f_ = &from_[id];
    parts_.assign(f_->value_count(), {});
    cursor c(p_, id, function::body);
    c_ = &c;
    take(f_->parameters(), c->parameters());
    region(function::body, function::body);
    c_ = nullptr;
  }

  // ---- values

  parts const& parts_of(value_id v) {
    if (f_->is_literal(v)) parts_[index_of(v)] = {c_->literal(type_of(v), f_->bits_of(v))};
    return parts_[index_of(v)];
  }
  part_maker make() { return {known_, *c_}; }
  // Converts the parts of a value to another set of kinds, or to an element of an array.
  parts as(value_id v, type to, kind_set const& kinds) {
    if (!type_of(v).is_function()) return parts_of(v);
    return to.is_function() ? make().as(parts_of(v), kinds_of(v), kinds)
                            : make().as_element(parts_of(v), kinds_of(v), kinds);
  }
  parts as(value_id v, value_id to) { return as(v, type_of(to), kinds_of(to)); }
  void give(value_id v, parts all) {
    if (!holds_functions(type_of(v)) && (*f_)[v].name != nothing && !(*c_)->is_literal(all[0]))
      c_->set_name(all[0], (*f_)[v].name);
    parts_[index_of(v)] = std::move(all);
  }
  // Maps values to as many new ones as their parts need, from the `next`-th on. Returns the next index.
  std::uint32_t take(id_range<value_id> all, id_range<value_id> made, std::uint32_t next = 0) {
    for (value_id const v : all) {
      parts of;
      for (std::size_t n = types_of(v).size(); n > 0; --n) of.push_back(made[next++]);
      give(v, std::move(of));
    }
    return next;
  }

  // ---- operations

  void region(region_id r, region_id into) {
    for (node_id const n : f_->nodes_of(r)) {
      c_->to_end(into);
      c_->set_place((*f_)[n].place);
      operation(n);
    }
  }
  node_id insert(
      node_id like, parts const& operands, std::vector<type> const& results,
      std::vector<std::vector<type>> const& regions = {}) {
    return c_->insert((*f_)[like].code, operands, results, (*f_)[like].attributes, regions);
  }
  bool touches_functions(node_id n) const {
    for (value_id const v : f_->operands_of(n))
      if (holds_functions(type_of(v))) return true;
    for (value_id const v : f_->results_of(n))
      if (holds_functions(type_of(v))) return true;
    return false;
  }

  void operation(node_id n) {
    function::node const& node = (*f_)[n];
    count_ += node.code == op::closure || node.code == op::apply || node.code == op::reabstract;
    if (node.code == op::yield) return yield(n);
    if (node.region_count > 0) return with_regions(n);
    if (node.code == op::apply) return apply(n);
    if (node.code == op::call) return call(n);
    if (!touches_functions(n)) return plain(n);
    switch (node.code) {
    case op::closure:
      return closure(n);
    case op::reabstract:
      return give(f_->result(n), as(f_->operand(n, 0), f_->result(n)));
    case op::length:
      return length(n);
    case op::select:
      if (type_of(f_->result(n)).is_function()) return select(n);
      return by_parts(n);
    default:
      return by_parts(n);
    }
  }
  void plain(node_id n) {
    parts operands;
    std::vector<type> results;
    for (value_id const v : f_->operands_of(n)) append(operands, parts_of(v));
    for (value_id const v : f_->results_of(n)) results.push_back(type_of(v));
    take(f_->results_of(n), (*c_)->results_of(insert(n, operands, results)));
  }
  void closure(node_id n) {
    function_id const callee = (*f_)[n].attributes.callee();
    parts captured;
    for (std::uint32_t i = 0; i < (*f_)[n].operand_count; ++i) {
      value_id const v = f_->operand(n, i);
      append(captured, as(v, type_of(v), flow_.of_parameter(callee, i)));
    }
    give(f_->result(n), std::move(captured)); // it has one kind, whose slots these are
  }
  void call(node_id n) {
    function_id const callee = (*f_)[n].attributes.callee();
    parts operands;
    for (std::uint32_t i = 0; i < (*f_)[n].operand_count; ++i) {
      value_id const v = f_->operand(n, i);
      append(operands, as(v, type_of(v), flow_.of_parameter(callee, i)));
    }
    std::vector<type> results;
    for (value_id const v : f_->results_of(n)) append(results, types_of(v)); // of the callee's results
    take(f_->results_of(n), (*c_)->results_of(insert(n, operands, results)));
  }
  void apply(node_id n) {
    value_id const f = f_->operand(n, 0);
    applied what;
    what.kinds = kinds_of(f);
    std::vector<parts> arguments;
    for (std::uint32_t i = 1; i < (*f_)[n].operand_count; ++i) {
      value_id const v = f_->operand(n, i);
      what.arguments.emplace_back(type_of(v), kinds_of(v));
      arguments.push_back(parts_of(v));
    }
    for (value_id const v : f_->results_of(n)) what.results.emplace_back(type_of(v), kinds_of(v));
    parts given;
    if (what.kinds.empty()) { // unreachable: no closure flows here
      for (auto const& [t, kinds] : what.results) append(given, make().none(t, kinds));
    } else if (what.kinds.size() == 1) {
      given = applications_.call(*c_, what.kinds[0], parts_of(f), arguments, what);
    } else {
      function_id const callee = applications_.of(what);
      parts operands = parts_of(f);
      for (parts const& each : arguments) append(operands, each);
      node_id const made = c_->insert(op::call, operands, p_[callee].results, attributes::of(callee));
      for (value_id const v : (*c_)->results_of(made)) given.push_back(v);
    }
    std::size_t next = 0;
    for (value_id const v : f_->results_of(n)) {
      auto const first = given.begin() + static_cast<std::ptrdiff_t>(next);
      next += types_of(v).size();
      give(v, parts(first, given.begin() + static_cast<std::ptrdiff_t>(next)));
    }
  }
  void select(node_id n) {
    value_id const a = f_->operand(n, 1), b = f_->operand(n, 2), result = f_->result(n);
    give(
        result, make().select(
                    parts_of(f_->operand(n, 0))[0], parts_of(a), kinds_of(a), parts_of(b), kinds_of(b),
                    kinds_of(result)));
  }
  // Tag arrays are as long as the arrays of function values.
  void length(node_id n) {
    parts operands;
    for (value_id const v : f_->operands_of(n)) operands.push_back(parts_of(v)[0]);
    take(f_->results_of(n), (*c_)->results_of(insert(n, operands, {ir::i64})));
  }
  // Operations on arrays and elements are applied to each part.
  void by_parts(node_id n) {
    value_id const result = f_->result(n);
    kind_set const& kinds = kinds_of(result);
    std::vector<type> const types = known_.types_of_elements(kinds, type_of(result).rank);
    std::vector<parts> operands;
    for (value_id const v : f_->operands_of(n)) operands.push_back(as_element(v, kinds));
    parts made;
    for (std::size_t k = 0; k < types.size(); ++k) {
      parts each;
      for (std::uint32_t i = 0; i < operands.size(); ++i)
        each.push_back(operands[i][holds_functions(type_of(f_->operand(n, i))) ? k : 0]);
      made.push_back((*c_)->result(insert(n, each, {types[k]})));
    }
    if (type_of(result).rank == 0) made = part_maker::of_element(std::move(made), kinds);
    give(result, std::move(made));
  }
  parts as_element(value_id v, kind_set const& kinds) {
    if (!type_of(v).is_function()) return parts_of(v);
    return make().as_element(parts_of(v), kinds_of(v), kinds);
  }

  // ---- regions

  void with_regions(node_id n) {
    function::node const& node = (*f_)[n];
    bool const reduces = node.code == op::reduce;
    parts operands;
    for (std::uint32_t i = 0; i < node.operand_count; ++i) append(operands, operand(n, i));
    std::vector<type> results;
    for (value_id const v : f_->results_of(n)) append(results, reduces ? element_types(v) : types_of(v));
    std::vector<std::vector<type>> arguments(node.region_count);
    for (std::uint32_t i = 0; i < node.region_count; ++i)
      for (value_id const v : f_->arguments_of(f_->region_at(n, i)))
        append(arguments[i], reduces ? element_types(v) : types_of(v));
    node_id const made = insert(n, operands, results, arguments);
    for (std::uint32_t i = 0; i < node.region_count; ++i) {
      region_id const r = f_->region_at(n, i), into = (*c_)->region_at(made, i);
      take_as(reduces, f_->arguments_of(r), (*c_)->arguments_of(into));
      region(r, into);
    }
    take_as(reduces, f_->results_of(n), (*c_)->results_of(made));
  }
  // Elements under reduction have tags, as their arrays do.
  std::vector<type> element_types(value_id v) const {
    return type_of(v).is_function() ? known_.types_of_elements(kinds_of(v)) : types_of(v);
  }
  void take_as(bool elements, id_range<value_id> all, id_range<value_id> made) {
    if (!elements) return (void)take(all, made);
    std::uint32_t next = 0;
    for (value_id const v : all) {
      parts of;
      for (std::size_t n = element_types(v).size(); n > 0; --n) of.push_back(made[next++]);
      give(v, type_of(v).is_function() ? part_maker::of_element(std::move(of), kinds_of(v)) : std::move(of));
    }
  }
  parts operand(node_id n, std::uint32_t i) {
    value_id const v = f_->operand(n, i);
    if (!type_of(v).is_function()) return parts_of(v);
    if (ir::carries_values((*f_)[n].code))
      return as(v, f_->result(n, i - ir::region_flow(*f_, n).leading_operands()));
    return as_element(v, kinds_of(f_->result(n, i - (*f_)[n].result_count))); // reduce, after the arrays
  }
  void yield(node_id n) {
    region_id const r = (*f_)[n].parent;
    node_id const owner = (*f_)[r].parent;
    parts all;
    for (std::uint32_t i = 0; i < (*f_)[n].operand_count; ++i)
      append(all, yielded(owner, r, i, f_->operand(n, i)));
    c_->yield(all);
  }
  parts yielded(node_id owner, region_id r, std::uint32_t i, value_id v) {
    if (!type_of(v).is_function()) return parts_of(v);
    if (owner == nothing) return as(v, type_of(v), flow_.of_result(id_, i));
    ir::region_flow const flow(*f_, owner);
    value_id const to = f_->result(owner, flow.first_yielded() + i);
    if ((*f_)[owner].code == op::reduce) return as_element(v, kinds_of(to));
    if (i >= flow.carried()) return as(v, to);
    // Slots without a value keep the one of the previous iteration.
    value_id const before = f_->argument(r, flow.leading_arguments() + i);
    return make().as(parts_of(v), kinds_of(v), kinds_of(to), &parts_of(before));
  }

  program const& from_;
  program& p_;
  representations& known_;
  function_flow const& flow_;
  applications applications_;
  std::size_t count_ = 0;
  // The function under construction.
  function_id id_ = nothing;
  function const* f_ = nullptr;
  cursor* c_ = nullptr;
  std::vector<parts> parts_; // for each value
};

} // namespace overdub::pass::detail
