// Dispatch by operation, changes of lengths and trip counts, and operations that are recomputed in full.
#pragma once

#include <overdub/incremental/update_writer_elements.hpp>

namespace overdub::increments {

inline void update_writer::visit(region_id r) {
  for (node_id n = original()[r].first; n != original()[r].last; n = original()[n].next) {
    visit(n);
    for (value_id const v : original().results_of(n)) visited_[index_of(v)] = 1;
  }
}

inline void update_writer::visit(node_id n) {
  if (!is_affected(n)) return;
  bool const is_read = original()[n].code == op::at || original()[n].code == op::length;
  if (recomputes_all_)
    return recompute(
        n, "a sum was not finite, rows had different sizes, memory ran out, or a plain run saved nothing");
  if (is_in_loop() && (original()[n].region_count != 0 || original()[n].code == op::reduce))
    return recompute_nested(n);
  if (is_new_iteration_ && !is_read) return recompute(n);
  switch (original()[n].code) {
  case op::at:
    return visit_at(n);
  case op::reduce:
    return visit_reduction(n);
  case op::map:
    return visit_map(n);
  case op::loop:
    return visit_loop(n);
  case op::if_:
    return visit_branch(n);
  case op::length:
    return visit_length(n);
  default:
    recompute(n);
    add_difference(n);
    return add_appended(n);
  }
}

/// The difference of a sum of two values is the sum of their differences, which is more exact than subtracting the two results.
inline void update_writer::add_difference(node_id n) {
  op const code = original()[n].code;
  if ((code != op::add && code != op::sub) || !is_outside_loops(original(), original()[n].parent) ||
      original().type_of(original().result(n)) != ir::f64)
    return;
  bool is_known = false; // of at least one operand
  for (value_id const v : original().operands_of(n))
    is_known = is_known || (!original().is_literal(v) && change_of(v) != nullptr &&
                            change_of(v)->difference != ir::nothing);
  if (!is_known) return;
  value_id by = ir::nothing;
  for (std::uint32_t k = 0; k < 2; ++k) {
    value_id const v = original().operand(n, k);
    change const* const c = original().is_literal(v) ? nullptr : change_of(v);
    if (c == nullptr) continue;
    value_id part =
        c->difference != ir::nothing ? c->difference : at_.add(op::sub, new_value(v), old_value(v));
    if (k == 1 && code == op::sub) part = at_.add(op::neg, part);
    by = by == ir::nothing ? part : at_.add(op::add, by, part);
  }
  pool_[changes_[index_of(original().result(n))] - 1].difference = by;
}

/// The length of an array grows by the appended elements. The lengths of several arrays are equal.
inline void update_writer::visit_length(node_id n) {
  value_id const v = original().result(n);
  change* const first = changes_[index_of(original().operand(n, 0))] == 0
                            ? nullptr
                            : &pool_[changes_[index_of(original().operand(n, 0))] - 1];
  auto const count_of = [](change const* c) {
    return c == nullptr ? std::ptrdiff_t{0}
                        : std::count_if(c->deltas.begin(), c->deltas.end(), [](delta const& p) {
                            return p.is_appended;
                          });
  };
  if (add_list_to_length(n)) return;
  std::ptrdiff_t const more = count_of(first);
  std::int64_t minimum = 0;
  for (value_id const array : original().operands_of(n)) {
    change const* const c = change_of(array);
    if ((c != nullptr && c->whole) || count_of(c) != more) return recompute(n);
    if (c != nullptr && c->appended_input != layout::none)
      minimum = 1; // an append to an empty array is a change as a whole
  }
  if (more == 0) return is_new_iteration_ ? recompute(n) : void();
  std::vector<value_id> appended_indices;
  for (delta const& p : first->deltas)
    if (p.is_appended) appended_indices.push_back(p.index);
  // The other arrays have their new elements at the same indices.
  if (at_.region() == outermost_region_)
    for (value_id const array : original().operands_of(n)) {
      auto next = appended_indices.begin();
      for (delta& p : pool_[changes_[index_of(array)] - 1].deltas)
        if (p.is_appended) p.index = *next++;
    }
  value_id const now = at_.add(op::add, appended_indices.front(), literal(ir::i64, appended_indices.size()));
  set_whole(v, now);
  old_[index_of(v)] = appended_indices.front(); // undone with the change
  change& c = pool_[changes_[index_of(v)] - 1];
  c.appended_indices = std::move(appended_indices);
  c.minimum = minimum;
  note(n, step::extent::scalar);
}

/// The same where a list of elements was appended. Returns whether one was.
inline bool update_writer::add_list_to_length(node_id n) {
  std::vector<delta*> all;
  std::int64_t minimum = 0;
  bool is_list = false, is_other = false;
  for (value_id const array : original().operands_of(n)) {
    change* const c = original().is_literal(array) || change_of(array) == nullptr
                          ? nullptr
                          : &pool_[changes_[index_of(array)] - 1];
    delta* appended = nullptr;
    if (c != nullptr)
      for (delta& p : c->deltas)
        if (p.is_appended && p.list != ir::nothing) appended = &p;
    is_list = is_list || appended != nullptr;
    is_other = is_other || appended == nullptr || c->whole;
    all.push_back(appended);
    if (c != nullptr && c->appended_input != layout::none)
      minimum = 1; // an append to an empty array is a change as a whole
  }
  if (!is_list) return false;
  if (is_other) {
    recompute(n);
    return true;
  }
  std::vector<value_id> parts;
  for (delta const* p : all) parts.push_back(p->element);
  value_id const first = all[0]->first, list = all[0]->list;
  value_id const count = written().result(at_.insert(op::length, parts, std::array{ir::i64}));
  // The other arrays have their new elements at the same indices.
  if (at_.region() == outermost_region_)
    for (delta* p : all) {
      p->first = first;
      p->end = all[0]->end;
      p->list = list;
    }
  value_id const v = original().result(n);
  set_whole(v, at_.add(op::add, first, count));
  old_[index_of(v)] = first; // undone with the change
  change& c = pool_[changes_[index_of(v)] - 1];
  c.appended_list = list;
  c.first_appended = first;
  c.appended_count = count;
  c.minimum = minimum;
  note(n, step::extent::scalar);
  return true;
}

/// A trip count that differs from another one by a literal gets as many appended iterations.
inline void update_writer::add_appended(node_id n) {
  op const code = original()[n].code;
  if (code != op::add && code != op::sub) return;
  value_id const a = original().operand(n, 0), b = original().operand(n, 1);
  bool const second = code == op::add && original().is_literal(a);
  value_id const of = second ? b : a, by = second ? a : b;
  if (original().is_literal(of) || !original().is_literal(by) || original().type_of(of) != ir::i64) return;
  change const* const c = change_of(of);
  if (c == nullptr || !c->has_appended()) return;
  auto const shift = static_cast<std::int64_t>(original().bits_of(by));
  if (shift < -maximum_shift || shift > maximum_shift) return;
  std::int64_t minimum = code == op::add ? c->minimum + shift : c->minimum - shift;
  value_id const v = original().result(n),
                 before = c->appended_list == ir::nothing ? c->appended_indices.front() : c->first_appended;
  value_id const first = at_.add(code, before, literal(ir::i64, static_cast<std::uint64_t>(shift)));
  if (minimum < 0) { // there may be no iterations yet
    if (!may_speculate_on({v}) || !speculate_on({v}, at_.add(op::ge, first, literal(ir::i64, 0)))) return;
    minimum = 0;
  }
  change& to = pool_[changes_[index_of(original().result(n))] - 1];
  for (value_id const index : c->appended_indices)
    to.appended_indices.push_back(at_.add(code, index, literal(ir::i64, static_cast<std::uint64_t>(shift))));
  to.minimum = minimum;
  if (c->appended_list == ir::nothing) {
    old_[index_of(original().result(n))] = to.appended_indices.front();
    return;
  }
  to.first_appended = first;
  to.appended_count = c->appended_count;
  to.appended_list = indices_from(to.first_appended, to.appended_count);
  old_[index_of(original().result(n))] = to.first_appended;
}

// ---- recomputation in full

inline void update_writer::recompute(node_id n, std::string_view why) {
  std::vector<value_id> const new_values = emit_recomputation(n);
  if (original()[n].code == op::reduce) store_saved_trees(n);
  bool is_whole = original()[n].region_count != 0 || original()[n].code == op::reduce;
  for (value_id const v : original().results_of(n))
    is_whole = is_whole || (original().type_of(v).rank > 0 && original()[n].code != op::at);
  if (is_whole) note(n, step::extent::whole, why);
  bool are_guarded = true;
  for (std::uint32_t i = 0; i < new_values.size(); ++i)
    are_guarded = set_or_guard_unchanged(n, original().result(n, i), new_values[i]) && are_guarded;
  if (!is_whole && !are_guarded) note(n, step::extent::scalar);
}
/// Emits the operation with the new values of its operands. Saved values in its regions are stored; its results are not.
inline std::vector<value_id> update_writer::emit_recomputation(node_id n) {
  // Values of the regions that are saved later require a restart.
  for (region_id const r : original().regions_of(n))
    ir::walk(original(), r, [&](node_id m) {
      for (value_id const v : original().results_of(m)) visited_[index_of(v)] = 1;
      for (region_id const inner : original().regions_of(m))
        for (value_id const v : original().arguments_of(inner)) visited_[index_of(v)] = 1;
    });
  value_map here = values_of(n);
  std::vector<saved_value> inside;
  node_id const made = copy(n, here, inside);
  std::vector<value_id> new_values;
  for (std::uint32_t i = 0; i < original()[n].result_count; ++i)
    new_values.push_back(written().result(made, i));
  auto const outer = path(static_cast<std::uint32_t>(iterations_.size()));
  for (saved_value const& k : inside) {
    stores_.push_back({layout_.of(k.of), outer, k.new_value, k.valid});
    if (std::uint32_t const errors = layout_.compensation_of(k.of); errors != layout::none)
      stores_.push_back({errors, outer, ir::nothing, k.valid});
  }
  return new_values;
}

/// The new values of an operation's operands and captured values.
inline value_map update_writer::values_of(node_id n) {
  value_map all = captured_values(n);
  for (std::uint32_t k = 0; k < original()[n].operand_count; ++k) {
    value_id const v = original().operand(n, k);
    all.insert_or_assign(v, new_value(v));
  }
  return all;
}
/// The new values that its regions capture.
inline value_map update_writer::captured_values(node_id n) {
  value_map all;
  if (original()[n].region_count != 0)
    for (value_id const v : captured(n)) all.insert_or_assign(v, new_value(v));
  return all;
}

/// Copies an operation. The copy also returns the saved values in its regions: of a map or a loop, those of all iterations.
inline node_id update_writer::copy(node_id n, value_map& here, std::vector<saved_value>& saved_inside) {
  if (!saves_inside(n)) return at_.clone(f_, n, here);
  if (selects_region(original()[n].code)) return copy_branch(n, here, saved_inside);
  values operands;
  for (value_id const v : original().operands_of(n)) operands.push_back(mapped(here, v));
  ir::builder to = build();
  node_id const made = to.open_like(original(), n, operands);
  region_id const from = flow_of(n).body();
  std::vector<saved_value> inside;
  to.in_region(made, 0, [&] {
    for (std::uint32_t k = 0; k < original()[from].argument_count; ++k) {
      value_id const v = original().argument(from, k), now = written().argument(at_.region(), k);
      here.insert_or_assign(v, now);
      if (layout_.of(v) != layout::none) inside.push_back({v, now});
    }
    copy_region(from, here, inside);
    values yielded;
    for (value_id const v : original().operands_of(original().yield_of(from)))
      yielded.push_back(mapped(here, v));
    for (saved_value const& k : inside) yielded.push_back(k.new_value);
    return yielded;
  });
  to.close(made);
  for (std::size_t i = 0; i < inside.size(); ++i)
    saved_inside.push_back(
        {inside[i].of, written().result(made, original()[n].result_count + static_cast<std::uint32_t>(i))});
  return made;
}
/// Copies the operations of a region but for its terminator.
inline void update_writer::copy_region(region_id r, value_map& here, std::vector<saved_value>& inside) {
  for (node_id m = original()[r].first; m != original()[r].last; m = original()[m].next) {
    node_id const copied = copy(m, here, inside);
    for (std::uint32_t i = 0; i < original()[m].result_count; ++i) {
      value_id const v = original().result(m, i);
      here.insert_or_assign(v, written().result(copied, i));
      if (layout_.of(v) != layout::none) inside.push_back({v, written().result(copied, i)});
    }
  }
}
inline value_id update_writer::mapped(value_map const& here, value_id v) {
  return original().is_literal(v) ? literal(original().type_of(v), original().bits_of(v)) : here.at(v);
}

/// Whether values in the regions of an operation are saved.
inline bool update_writer::saves_inside(node_id n) {
  op const code = original()[n].code;
  if (!is_counted(code) && !selects_region(code)) return false;
  for (std::uint32_t k = 0; k < layout_.size(); ++k)
    for (region_id const r : original().regions_of(n))
      if (layout_[k].what == variable::role::saved && is_inside(original(), layout_[k].of, r)) return true;
  return false;
}

// ---- queries

/// Whether the enclosing iteration is one of a loop, of which nothing but loop-carried values is saved.
inline bool update_writer::is_in_loop() const {
  return !iterations_.empty() &&
         is_counted_loop(original()[original()[iterations_.back().region].parent].code);
}

inline bool update_writer::is_affected(node_id n) {
  if (recomputes_all_ || is_new_iteration_) return true;
  for (value_id const v : original().operands_of(n))
    if (!original().is_literal(v) && change_of(v) != nullptr) return true;
  if (original()[n].region_count != 0)
    for (value_id const v : captured(n))
      if (change_of(v) != nullptr) return true;
  return false;
}

/// The values outside of an operation that its regions use, each once.
inline std::vector<value_id> const& update_writer::captured(node_id n) {
  auto& all = captured_[index_of(n)];
  if (std::exchange(has_captured_[index_of(n)], std::uint8_t{1}) != 0) return all;
  function const& f = original();
  std::vector<std::uint8_t> known(f.value_count());
  for (region_id const r : f.regions_of(n))
    ir::walk(f, r, [&](node_id m) {
      for (value_id const v : f.operands_of(m)) {
        if (f.is_literal(v) || known[index_of(v)] != 0) continue;
        known[index_of(v)] = 1;
        bool inside = false;
        for (region_id const own : f.regions_of(n)) inside = inside || is_inside(f, v, own);
        if (!inside) all.push_back(v);
      }
    });
  return all;
}

} // namespace overdub::increments
