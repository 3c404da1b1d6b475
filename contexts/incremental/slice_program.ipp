#pragma once

#include <overdub/contexts/incremental/slice_program.hpp>
#include <overdub/contexts/incremental/slice_writer_loops.hpp>
#include <overdub/contexts/incremental/slice_writer_reductions.hpp>
#include <overdub/pass/dce.hpp>

namespace overdub::contexts::increments {

inline slice_writer::slice_writer(ir::program const& p, function_id f, layout& all)
    : f_(f), draft_([&] {
        made_.program = p;
        return made_.program.add("draft", {});
      }()),
      layout_(all), at_(made_.program, draft_, function::body) {
  std::size_t const values = original().value_count();
  changes_.assign(values, 0);
  old_.assign(values, ir::nothing);
  now_.assign(values, ir::nothing);
  passed_.assign(values, 0);
  captured_.resize(original().node_count());
  has_captured_.assign(original().node_count(), 0);
}

inline void slice_writer::write(schema const& changes, doubts const& d) {
  doubts_ = d;
  begin_assuming();
  for (std::uint32_t i = 0; i < changes.size(); ++i) begin(i, changes[i]);
  visit(function::body);
}

inline void slice_writer::write_all() {
  runs_all_ = true;
  for (std::uint32_t i = 0; i < original().parameters().size(); ++i) begin(i, {.whole = true});
  visit(function::body);
}

/// What changed of an input.
inline void slice_writer::begin(std::uint32_t input, input_change const& how) {
  if (how.is_same()) return;
  value_id const v = layout_[input].of;
  change& c = set_change(v);
  if (how.whole) {
    c.whole = true;
    c.now = parameter_for({.what = slice_parameter::kind::input, .variable = input}, layout_[input].type);
    return;
  }
  if (how.appended) {
    c.appended = input;
    value_id const end = at_.add(op::length, old(v));
    if (how.appends_list()) {
      piece p{.source = input, .is_new = true};
      p.element =
          parameter_for({.what = slice_parameter::kind::elements, .variable = input}, layout_[input].type);
      p.first = end;
      p.end = at_.add(op::add, end, at_.add(op::length, p.element));
      p.list = indices_from(end, at_.add(op::length, p.element));
      c.pieces.push_back(p);
      return;
    }
    for (std::uint32_t k = 0; k < how.places; ++k) {
      piece p{.source = input, .place = k, .is_new = true};
      p.index = k == 0 ? end : at_.add(op::add, end, literal(ir::i64, k));
      ir::type const t = layout_[input].type.element_type();
      p.element =
          t.rank > 0
              ? at(now(v), p.index)
              : parameter_for({.what = slice_parameter::kind::element, .variable = input, .place = k}, t);
      c.pieces.push_back(p);
    }
    return;
  }
  if (how.is_listed()) return begin_list(input, c);
  for (std::uint32_t k = 0; k < how.places; ++k) begin_place(input, how, k, 0, c);
}

inline void slice_writer::begin_list(std::uint32_t input, change& to) {
  piece p{.source = input, .is_sorted = true};
  p.list = parameter_for({.what = slice_parameter::kind::list, .variable = input}, ir::i64.array_of());
  p.element =
      parameter_for({.what = slice_parameter::kind::elements, .variable = input}, layout_[input].type);
  to.listed = input;
  to.pieces.push_back(p);
}

inline void slice_writer::begin_place(
    std::uint32_t input, input_change const& how, std::uint32_t place, std::uint32_t axis, change& to) {
  piece p{.source = input, .place = place};
  p.index = parameter_for(
      {.what = slice_parameter::kind::index, .variable = input, .place = place, .axis = axis}, ir::i64);
  if (axis + 1 < how.indices) {
    change& part = pool_.emplace_back();
    begin_place(input, how, place, axis + 1, part);
    p.part = &part;
  } else {
    ir::type t = layout_[input].type;
    for (std::uint32_t k = 0; k < how.indices; ++k) t = t.element_type();
    p.element = parameter_for({.what = slice_parameter::kind::element, .variable = input, .place = place}, t);
  }
  to.pieces.push_back(p);
}

/// Where a value of the slice is found: among its arguments, or its results, of which it becomes one.
inline slice_value slice_writer::value_at(value_id v, std::vector<value_id>& results) const {
  slice_value found;
  if (v == ir::nothing) return found;
  for (std::uint32_t k = 0; k < parameters_.size(); ++k)
    if (parameters_[k].value == v) found.parameter = k;
  if (found.exists()) return found;
  auto const at = std::find(results.begin(), results.end(), v);
  found.result = static_cast<std::uint32_t>(at - results.begin());
  if (at == results.end()) results.push_back(v);
  return found;
}

inline slice slice_writer::finish() && {
  std::vector<value_id> results;
  node_id const last = original()[function::body].last;
  for (std::uint32_t k = 0; k < original()[last].operand_count; ++k) {
    value_id const v = original().operand(last, k);
    bool const changed = !original().is_literal(v) && change_of(v) != nullptr;
    bool const is_number = original().type_of(v).rank == 0;
    made_.results.push_back(changed && is_number ? value_at(now(v), results) : slice_value{});
    bool const has_difference = changed && original().type_of(v) == ir::f64;
    made_.differences.push_back(has_difference ? value_at(change_of(v)->by, results) : slice_value{});
  }
  for (pending const& s : stores_) {
    store to;
    to.variable = s.variable;
    to.does = s.does;
    to.value = value_at(s.value, results);
    to.valid = value_at(s.valid, results);
    for (value_id const v : s.path) {
      to.path.push_back(value_at(v, results));
      to.each = to.each || type_of(v).rank > 0;
    }
    made_.stores.push_back(std::move(to));
  }
  at_.to_end(top_);
  end_assuming(results);
  std::vector<ir::type> results_of;
  for (value_id const v : results) results_of.push_back(type_of(v));
  for (guard const& g : guards_) made_.assumed.push_back(g.what);
  if (!guards_.empty()) {
    made_.failed.result = static_cast<std::uint32_t>(results.size());
    results_of.push_back(ir::i64);
  }

  // The same with the arguments in their places.
  std::vector<ir::type> types;
  for (parameter const& p : parameters_) {
    types.push_back(type_of(p.value));
    made_.parameters.push_back(p.what);
  }
  ir::program& p = made_.program;
  function_id const f = p.add("slice", types);
  value_map here;
  for (std::uint32_t k = 0; k < parameters_.size(); ++k)
    here.insert_or_assign(parameters_[k].value, p[f].argument(function::body, k));
  bool const has_front =
      std::any_of(guards_.begin(), guards_.end(), [](guard const& g) { return g.choice == ir::nothing; });
  ir::cursor c(p, f, function::body);
  for (node_id n = p[draft_][function::body].first; n != ir::nothing; n = p[draft_][n].next) {
    bool const stands_in = p[draft_][n].code == op::host && p[draft_][n].attributes.subject == ~0u;
    if (n == front_ && !has_front) // it is no choice
      c.clone_contents(draft_, p[draft_].region_at(n, 0), here);
    else if (!stands_in)
      (void)c.clone(draft_, n, here);
  }
  p[f].results = std::move(results_of);
  p.entry = f;
  p.erase(draft_);
  pass::dce(p);
  return std::move(made_);
}

OVERDUB_DECL slice
slice_of(ir::program const& p, ir::function_id f, layout& all, schema const& changes, doubts const& d) {
  for (;;) {
    slice_writer writer(p, f, all);
    writer.write(changes, d);
    if (!writer.is_late()) return std::move(writer).finish();
  }
}

OVERDUB_DECL slice whole_of(ir::program const& p, ir::function_id f, layout& all) {
  slice_writer writer(p, f, all);
  writer.write_all();
  return std::move(writer).finish();
}

} // namespace overdub::contexts::increments
