#include <overdub/implementation/incremental/emitted_stores.hpp>
#include <overdub/implementation/incremental/planned_stores.hpp>
#include <overdub/implementation/incremental/update_operations.hpp>
#include <overdub/incremental/make_update_program.hpp>
#include <overdub/pass/dce.hpp>

namespace overdub::increments {

/// Sets the change of an input of which a list of elements changed.
inline void begin_list(update_writer& w, std::uint32_t input, change& to) {
  delta p{.source = input, .is_sorted = true};
  p.list =
      w.code.parameter_for({.what = update_parameter::kind::list, .variable = input}, ir::i64.array_of());
  p.element = w.code.parameter_for(
      {.what = update_parameter::kind::elements, .variable = input}, w.code.saved[input].type);
  to.listed_input = input;
  to.deltas.push_back(p);
}

/// Adds the change of one element of an input; `axis` is that of its next index.
inline void begin_element(
    update_writer& w, std::uint32_t input, input_change const& how, std::uint32_t ordinal, std::uint32_t axis,
    change& to) {
  delta p{.source = input, .ordinal = ordinal};
  p.index = w.code.parameter_for(
      {.what = update_parameter::kind::index, .variable = input, .ordinal = ordinal, .axis = axis}, ir::i64);
  if (axis + 1 < how.indices) {
    change& part = w.known.add_nested();
    begin_element(w, input, how, ordinal, axis + 1, part);
    p.nested = &part;
  } else {
    ir::type t = w.code.saved[input].type;
    for (std::uint32_t k = 0; k < how.indices; ++k) t = t.element_type();
    p.element = w.code.parameter_for(
        {.what = update_parameter::kind::element, .variable = input, .ordinal = ordinal}, t);
  }
  to.deltas.push_back(p);
}

/// Sets the change of an input.
inline void begin_input(update_writer& w, std::uint32_t input, input_change const& how) {
  if (how.is_same()) return;
  value_id const v = w.code.saved[input].of;
  change& c = w.known.set_change(v);
  if (how.whole) {
    c.whole = true;
    c.new_value = w.code.parameter_for(
        {.what = update_parameter::kind::input, .variable = input}, w.code.saved[input].type);
    return;
  }
  if (how.appended) {
    c.appended_input = input;
    value_id const end = w.code.add(op::length, w.known.old_value(v));
    if (how.appends_list()) {
      delta p{.source = input, .is_appended = true};
      p.element = w.code.parameter_for(
          {.what = update_parameter::kind::elements, .variable = input}, w.code.saved[input].type);
      p.first = end;
      p.end = w.code.add(op::add, end, w.code.add(op::length, p.element));
      p.list = w.code.indices_from(end, w.code.add(op::length, p.element));
      c.deltas.push_back(p);
      return;
    }
    for (std::uint32_t k = 0; k < how.elements; ++k) {
      delta p{.source = input, .ordinal = k, .is_appended = true};
      p.index = k == 0 ? end : w.code.add(op::add, end, w.code.literal(ir::i64, k));
      ir::type const t = w.code.saved[input].type.element_type();
      p.element = t.rank > 0
                      ? w.code.at(w.known.new_value(v), p.index)
                      : w.code.parameter_for(
                            {.what = update_parameter::kind::element, .variable = input, .ordinal = k}, t);
      c.deltas.push_back(p);
    }
    return;
  }
  if (how.is_listed()) return begin_list(w, input, c);
  for (std::uint32_t k = 0; k < how.elements; ++k) begin_element(w, input, how, k, 0, c);
}

/// Emits the update for a change signature.
inline void write(update_writer& w, change_signature const& changes, disabled_guards const& d) {
  w.guards.begin(d);
  for (std::uint32_t i = 0; i < changes.size(); ++i) begin_input(w, i, changes[i]);
  visit(w, function::body);
}

/// Recomputes everything, to compute the saved values.
inline void write_full_update(update_writer& w) {
  w.recomputes_all = true;
  for (std::uint32_t i = 0; i < w.original().parameters().size(); ++i) begin_input(w, i, {.whole = true});
  visit(w, function::body);
}

/// The values of the draft that the program passes to its caller.
class passed_values {
public:
  explicit passed_values(update_code const& code) {
    std::uint32_t k = 0;
    for (update_arguments::entry const& e : code.arguments.all())
      known_.insert_or_assign(e.value, update_value{.parameter = k++});
  }
  /// The argument or result that holds a value; the value becomes a result if it is neither.
  update_value of(value_id v) {
    if (v == ir::nothing) return {};
    auto const [at, is_new] = known_.insert({v, {.result = static_cast<std::uint32_t>(results_.size())}});
    if (is_new) results_.push_back(v);
    return at->second;
  }
  std::vector<value_id> const& results() const { return results_; }

private:
  ir::value_map<update_value> known_;
  std::vector<value_id> results_;
};

/// Ends the program: its results, the stores of a commit, and its parameters.
inline update_program finish(update_writer& w) {
  replaced_values now;
  complete_old_sums(w.code, now);
  std::vector<planned_store> stores = plan_stores(w.code.saved.all(), w.code.computed);
  carry_out(w.code, w.guards.outermost_region(), stores, now);

  passed_values passed(w.code);
  for (value_id const v : w.original().operands_of(w.original().yield_of(function::body))) {
    bool const changed = !w.original().is_literal(v) && w.known.change_of(v) != nullptr;
    bool const is_number = w.original().type_of(v).rank == 0;
    w.code.made.results.push_back(
        changed && is_number ? passed.of(now(w.known.new_value(v))) : update_value{});
    bool const has_difference = changed && w.original().type_of(v) == ir::f64;
    w.code.made.differences.push_back(
        has_difference ? passed.of(now(w.known.change_of(v)->difference)) : update_value{});
  }
  for (planned_store const& s : stores) {
    store to;
    to.variable = s.variable;
    to.does = s.does;
    to.value = passed.of(now(s.value));
    to.valid = passed.of(now(s.valid));
    for (value_id const v : s.path) {
      to.path.push_back(passed.of(now(v)));
      to.each = to.each || w.code.type_of(v).rank > 0;
    }
    w.code.made.stores.push_back(std::move(to));
  }
  std::vector<value_id> const& results = passed.results();
  w.code.cursor.to_end(w.guards.outermost_region());
  w.guards.end(results);
  std::vector<ir::type> results_of;
  for (value_id const v : results) results_of.push_back(w.code.type_of(v));
  for (speculation::emitted_guard const& g : w.guards.all()) w.code.made.guards.push_back(g.what);
  if (!w.guards.all().empty()) {
    w.code.made.failed_guards.result = static_cast<std::uint32_t>(results.size());
    results_of.push_back(ir::i64);
  }

  // The program is a copy of the draft in which parameters are bound to its free values.
  std::vector<ir::type> types;
  for (update_arguments::entry const& e : w.code.arguments.all()) {
    types.push_back(w.code.type_of(e.value));
    w.code.made.parameters.push_back(e.is.what);
  }
  ir::program& p = w.code.made.program;
  function_id const f = p.add("recompute", types);
  value_map here;
  for (std::uint32_t k = 0; k < types.size(); ++k)
    here.insert_or_assign(w.code.arguments.all()[k].value, p[f].argument(function::body, k));
  bool const has_front =
      std::any_of(w.guards.all().begin(), w.guards.all().end(), [](speculation::emitted_guard const& g) {
        return g.branch == ir::nothing;
      });
  ir::cursor c(p, f, function::body);
  for (node_id n = p[w.code.draft][function::body].first; n != ir::nothing; n = p[w.code.draft][n].next) {
    if (n == w.guards.entry() && !has_front) // there is no hoisted guard
      c.clone_contents(w.code.draft, p[w.code.draft].region_at(n, 0), here);
    else
      (void)c.clone(w.code.draft, n, here);
  }
  p[f].results = std::move(results_of);
  p.entry = f;
  p.erase(w.code.draft);
  pass::dce(p);
  return std::move(w.code.made);
}

update_program make_update_program(
    ir::program const& p, ir::function_id f, layout& all, change_signature const& changes,
    disabled_guards const& d) {
  ir::result_shapes const callees(p);
  ir::shapes const shapes(p[f], &callees);
  update_code code(p, f, all, shapes);
  update_writer writer(code);
  write(writer, changes, d);
  return finish(writer);
}

update_program make_full_update(ir::program const& p, ir::function_id f, layout& all) {
  ir::result_shapes const callees(p);
  ir::shapes const shapes(p[f], &callees);
  update_code code(p, f, all, shapes);
  update_writer writer(code);
  write_full_update(writer);
  return finish(writer);
}

} // namespace overdub::increments
