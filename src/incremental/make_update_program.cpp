#include <overdub/implementation/incremental/update_writer_branches.hpp>
#include <overdub/implementation/incremental/update_writer_loops.hpp>
#include <overdub/implementation/incremental/update_writer_maps.hpp>
#include <overdub/implementation/incremental/update_writer_reads.hpp>
#include <overdub/incremental/make_update_program.hpp>
#include <overdub/pass/dce.hpp>

namespace overdub::increments {

inline void update_writer::write(change_signature const& changes, disabled_guards const& d) {
  guards_.begin(d);
  for (std::uint32_t i = 0; i < changes.size(); ++i) begin_input(i, changes[i]);
  visit(function::body);
}

inline void update_writer::write_full_update() {
  recomputes_all_ = true;
  for (std::uint32_t i = 0; i < original().parameters().size(); ++i) begin_input(i, {.whole = true});
  visit(function::body);
}

/// Sets the change of an input.
inline void update_writer::begin_input(std::uint32_t input, input_change const& how) {
  if (how.is_same()) return;
  value_id const v = layout_[input].of;
  change& c = known_.set_change(v);
  if (how.whole) {
    c.whole = true;
    c.new_value =
        parameter_for({.what = update_parameter::kind::input, .variable = input}, layout_[input].type);
    return;
  }
  if (how.appended) {
    c.appended_input = input;
    value_id const end = at_.add(op::length, known_.old_value(v));
    if (how.appends_list()) {
      delta p{.source = input, .is_appended = true};
      p.element =
          parameter_for({.what = update_parameter::kind::elements, .variable = input}, layout_[input].type);
      p.first = end;
      p.end = at_.add(op::add, end, at_.add(op::length, p.element));
      p.list = indices_from(end, at_.add(op::length, p.element));
      c.deltas.push_back(p);
      return;
    }
    for (std::uint32_t k = 0; k < how.elements; ++k) {
      delta p{.source = input, .ordinal = k, .is_appended = true};
      p.index = k == 0 ? end : at_.add(op::add, end, literal(ir::i64, k));
      ir::type const t = layout_[input].type.element_type();
      p.element =
          t.rank > 0
              ? at(known_.new_value(v), p.index)
              : parameter_for({.what = update_parameter::kind::element, .variable = input, .ordinal = k}, t);
      c.deltas.push_back(p);
    }
    return;
  }
  if (how.is_listed()) return begin_list(input, c);
  for (std::uint32_t k = 0; k < how.elements; ++k) begin_element(input, how, k, 0, c);
}

inline void update_writer::begin_list(std::uint32_t input, change& to) {
  delta p{.source = input, .is_sorted = true};
  p.list = parameter_for({.what = update_parameter::kind::list, .variable = input}, ir::i64.array_of());
  p.element =
      parameter_for({.what = update_parameter::kind::elements, .variable = input}, layout_[input].type);
  to.listed_input = input;
  to.deltas.push_back(p);
}

inline void update_writer::begin_element(
    std::uint32_t input, input_change const& how, std::uint32_t ordinal, std::uint32_t axis, change& to) {
  delta p{.source = input, .ordinal = ordinal};
  p.index = parameter_for(
      {.what = update_parameter::kind::index, .variable = input, .ordinal = ordinal, .axis = axis}, ir::i64);
  if (axis + 1 < how.indices) {
    change& part = known_.add_nested();
    begin_element(input, how, ordinal, axis + 1, part);
    p.nested = &part;
  } else {
    ir::type t = layout_[input].type;
    for (std::uint32_t k = 0; k < how.indices; ++k) t = t.element_type();
    p.element =
        parameter_for({.what = update_parameter::kind::element, .variable = input, .ordinal = ordinal}, t);
  }
  to.deltas.push_back(p);
}

/// The argument or result of the update program that holds a value; the value becomes a result if it is neither.
inline update_value update_writer::value_of(value_id v, std::vector<value_id>& results) const {
  update_value found;
  if (v == ir::nothing) return found;
  for (std::uint32_t k = 0; k < parameters_.size(); ++k)
    if (parameters_[k].value == v) found.parameter = k;
  if (found.exists()) return found;
  auto const at = std::find(results.begin(), results.end(), v);
  found.result = static_cast<std::uint32_t>(at - results.begin());
  if (at == results.end()) results.push_back(v);
  return found;
}

inline update_program update_writer::finish() && {
  std::vector<value_id> results;
  for (value_id const v : original().operands_of(original().yield_of(function::body))) {
    bool const changed = !original().is_literal(v) && known_.change_of(v) != nullptr;
    bool const is_number = original().type_of(v).rank == 0;
    made_.results.push_back(changed && is_number ? value_of(known_.new_value(v), results) : update_value{});
    bool const has_difference = changed && original().type_of(v) == ir::f64;
    made_.differences.push_back(
        has_difference ? value_of(known_.change_of(v)->difference, results) : update_value{});
  }
  for (update_code::pending_store const& s : stores_) {
    store to;
    to.variable = s.variable;
    to.does = s.does;
    to.value = value_of(s.value, results);
    to.valid = value_of(s.valid, results);
    for (value_id const v : s.path) {
      to.path.push_back(value_of(v, results));
      to.each = to.each || type_of(v).rank > 0;
    }
    made_.stores.push_back(std::move(to));
  }
  at_.to_end(guards_.outermost_region());
  guards_.end(results);
  std::vector<ir::type> results_of;
  for (value_id const v : results) results_of.push_back(type_of(v));
  for (speculation::emitted_guard const& g : guards_.all()) made_.guards.push_back(g.what);
  if (!guards_.all().empty()) {
    made_.failed_guards.result = static_cast<std::uint32_t>(results.size());
    results_of.push_back(ir::i64);
  }

  // The program is a copy of the draft in which parameters are bound to its free values.
  std::vector<ir::type> types;
  for (update_code::parameter const& p : parameters_) {
    types.push_back(type_of(p.value));
    made_.parameters.push_back(p.what);
  }
  ir::program& p = made_.program;
  function_id const f = p.add("recompute", types);
  value_map here;
  for (std::uint32_t k = 0; k < parameters_.size(); ++k)
    here.insert_or_assign(parameters_[k].value, p[f].argument(function::body, k));
  bool const has_front =
      std::any_of(guards_.all().begin(), guards_.all().end(), [](speculation::emitted_guard const& g) {
        return g.branch == ir::nothing;
      });
  ir::cursor c(p, f, function::body);
  for (node_id n = p[draft_][function::body].first; n != ir::nothing; n = p[draft_][n].next) {
    if (n == guards_.entry() && !has_front) // there is no hoisted guard
      c.clone_contents(draft_, p[draft_].region_at(n, 0), here);
    else
      (void)c.clone(draft_, n, here);
  }
  p[f].results = std::move(results_of);
  p.entry = f;
  p.erase(draft_);
  pass::dce(p);
  return std::move(made_);
}

update_program make_update_program(
    ir::program const& p, ir::function_id f, layout& all, change_signature const& changes,
    disabled_guards const& d) {
  ir::result_shapes const callees(p);
  ir::shapes const shapes(p[f], &callees);
  for (;;) {
    update_code code(p, f, all, shapes);
    update_writer writer(code);
    writer.write(changes, d);
    if (!writer.must_restart()) return std::move(writer).finish();
  }
}

update_program make_full_update(ir::program const& p, ir::function_id f, layout& all) {
  ir::result_shapes const callees(p);
  ir::shapes const shapes(p[f], &callees);
  update_code code(p, f, all, shapes);
  update_writer writer(code);
  writer.write_full_update();
  return std::move(writer).finish();
}

} // namespace overdub::increments
