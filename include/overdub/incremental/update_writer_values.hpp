// Old and new values of a function's values in the update program.
#pragma once

#include <overdub/incremental/update_writer.hpp>

namespace overdub::increments {

// ---- changes, which `restore` undoes at the end of an iteration

inline change& update_writer::set_change(value_id v) {
  std::uint32_t const i = index_of(v);
  undo_.push_back({v, changes_[i], old_[i], new_[i]});
  pool_.emplace_back();
  changes_[i] = static_cast<std::uint32_t>(pool_.size());
  new_[i] = ir::nothing;
  return pool_.back();
}

inline void update_writer::set_whole(value_id v, value_id now) {
  change& c = set_change(v);
  c.whole = true;
  c.new_value = now;
  store_value(v, now);
}

inline void update_writer::restore(std::size_t checkpoint) {
  for (; undo_.size() > checkpoint; undo_.pop_back()) {
    undo const& u = undo_.back();
    std::uint32_t const i = index_of(u.value);
    changes_[i] = u.change;
    old_[i] = u.old_value;
    new_[i] = u.new_value;
  }
}

// ---- old and new values

/// The value before the update. In iterations, values that are cheap to compute are rematerialised; all others are saved.
inline value_id update_writer::old_value(value_id v) {
  function const& f = original();
  if (f.is_literal(v)) return literal(f.type_of(v), f.bits_of(v));
  std::uint32_t const i = index_of(v);
  if (old_[i] != ir::nothing) return old_[i];
  value_id found;
  if (f.is_result(v) && is_rematerialised(f.node_of(v))) {
    // `old_value` may add operations: nothing of the function may be referred to across these calls.
    node_id const n = f.node_of(v);
    value_map before;
    for (std::uint32_t k = 0; k < original()[n].operand_count; ++k)
      before.insert_or_assign(original().operand(n, k), old_value(original().operand(n, k)));
    if (original()[n].region_count != 0)
      for (value_id const u : captured(n)) before.insert_or_assign(u, old_value(u));
    node_id const made = at_.clone(f_, n, before);
    erase_hooks(made);
    found = written().result(made, original()[v].index);
  } else {
    std::uint32_t const number = save(v);
    auto const at = path(layout_[number].depth);
    found = read(number, at);
    if (layout_.compensation_of(v) != layout::none)
      found = at_.add(op::add, found, read(layout_.compensation_of(v), at));
  }
  undo_.push_back({v, changes_[i], old_[i], new_[i]});
  old_[i] = found;
  return found;
}

/// Rematerialised code calls no hooks.
inline void update_writer::erase_hooks(node_id made) {
  std::vector<node_id> hooks;
  for (region_id const r : written().regions_of(made))
    ir::walk(written(), r, [&](node_id n) {
      if (ir::is_observer(written(), n)) hooks.push_back(n);
    });
  for (node_id const n : hooks) at_.erase(n);
}

/// Whether hooks observe calls in the regions of an operation.
inline bool update_writer::is_observed_by_hooks(node_id n) const {
  bool any = false;
  for (region_id const r : original().regions_of(n))
    ir::walk(original(), r, [&](node_id m) { any = any || ir::is_observer(original(), m); });
  return any;
}

/// The value after the update.
inline value_id update_writer::new_value(value_id v) {
  change const* const c = change_of(v);
  if (c == nullptr) return old_value(v);
  if (c->whole) return c->new_value;
  std::uint32_t const i = index_of(v);
  if (new_[i] != ir::nothing) return new_[i];
  std::uint32_t const input = c->appended_input != layout::none ? c->appended_input : c->listed_input;
  value_id made;
  if (input != layout::none) {
    made = parameter_for({.what = update_parameter::kind::input, .variable = input}, original().type_of(v));
  } else {
    region_id const here = at_.region();
    if (node_id const repeated = repeating_operation(v); repeated != ir::nothing) at_.to_before(repeated);
    made = whole(old_value(v), *c);
    at_.to_end(here);
  }
  undo_.push_back({v, changes_[i], old_[i], new_[i]});
  new_[i] = made;
  return made;
}

/// The outermost emitted map or loop that would repeat the code for a value, which does not depend on its iterations; nothing, where
/// there is none.
inline node_id update_writer::repeating_operation(value_id v) const {
  function const& f = original();
  if (!is_outside_loops(f, f.region_of(v)) || (f.is_result(v) && is_rematerialised(f.node_of(v))))
    return ir::nothing;
  for (iteration const& t : iterations_)
    if (t.repeated_by != ir::nothing) return t.repeated_by;
  return ir::nothing;
}

/// The new array where some elements changed, as a copy: O(length).
inline value_id update_writer::whole(value_id array, change const& c) {
  for (delta const& p : c.deltas) array = replaced(array, p);
  return array;
}

inline value_id update_writer::replaced(value_id array, delta const& p) {
  ir::type const results[] = {type_of(array)};
  if (p.is_appended && p.list != ir::nothing) return at_.add(op::concat, array, p.element);
  if (p.is_appended) {
    value_id const last[] = {p.element};
    ir::type const row = type_of(array).element_type();
    value_id const last_row =
        row.rank == 0
            ? written().result(at_.insert(op::array, last, results))
            : written().result(at_.insert(op::fill, std::array{literal(ir::i64, 1), p.element}, results));
    return at_.add(op::concat, array, last_row);
  }
  if (p.list != ir::nothing)
    return build().loop(at_.add(op::length, p.list), {array}, [&](value_id k, values const& s) {
      return at_.add(op::update, s[0], at(p.list, k), at(p.element, k));
    });
  auto const updated = [&] {
    value_id const element = p.nested == nullptr ? p.element : whole(at(array, p.index), *p.nested);
    return at_.add(op::update, array, p.index, element);
  };
  if (p.valid == ir::nothing) return updated();
  return build().if_(p.valid, updated, [&] { return array; });
}

// ---- saved values

inline value_id update_writer::read(std::uint32_t number, std::vector<value_id> const& path) {
  value_id const array = parameter_for({.variable = number}, layout_[number].type);
  return path.empty() ? array : at(array, path);
}
inline value_id update_writer::at(value_id array, std::vector<value_id> const& path) {
  std::vector<value_id> operands{array};
  operands.insert(operands.end(), path.begin(), path.end());
  ir::type result = type_of(array);
  for (std::size_t k = 0; k < path.size(); ++k) result = result.element_type();
  return written().result(at_.insert(op::at, operands, std::array{result}));
}

inline value_id update_writer::parameter_for(update_parameter const& key, ir::type t) {
  for (parameter const& p : parameters_)
    if (p.what == key) return p.value;
  // A temporary operation, which becomes a parameter of the update program at the end.
  ir::cursor front(made_.program, draft_, function::body);
  front.to_start(function::body);
  node_id const stand_in = front.insert(op::host, {}, std::array{t});
  parameters_.push_back({key, written().result(stand_in)});
  return parameters_.back().value;
}

/// The saved value's number. The value is saved from now on.
inline std::uint32_t update_writer::save(value_id v) {
  if (std::uint32_t const number = layout_.of(v); number != layout::none) return number;
  std::uint32_t const depth = *enclosing_depth(v);
  ir::type t = original().type_of(v);
  for (std::uint32_t k = 0; k < depth; ++k) t = t.array_of();
  must_restart_ = must_restart_ || visited_[index_of(v)] != 0;
  return layout_.add({.of = v, .type = t, .what = variable::role::saved, .depth = depth});
}

inline std::uint32_t update_writer::compensation(value_id v) {
  if (std::uint32_t const number = layout_.compensation_of(v); number != layout::none) return number;
  variable r = layout_[save(v)];
  r.what = variable::role::compensation;
  must_restart_ = must_restart_ || visited_[index_of(v)] != 0;
  return layout_.add(r);
}

/// The number of maps and loops that enclose a value. Nothing where values cannot be saved: in a `while`, in a reduction, or in a branch
/// in an iteration.
inline std::optional<std::uint32_t> update_writer::enclosing_depth(value_id v) const {
  function const& f = original();
  std::uint32_t depth = 0;
  for (region_id r = f.region_of(v); r != function::body; ++depth) {
    node_id const owner = f[r].parent;
    if (selects_region(f[owner].code) && is_outside_loops(f, r)) return depth;
    if (!is_counted(f[owner].code)) return {};
    r = f[owner].parent;
  }
  return depth;
}
inline std::vector<value_id> update_writer::path(std::uint32_t depth) const {
  std::vector<value_id> all;
  for (std::uint32_t k = 0; k < depth; ++k) all.push_back(iterations_[k].index);
  return all;
}

/// The indices of the enclosing iterations, and one more.
inline std::vector<value_id> update_writer::path_to(value_id last) const {
  std::vector<value_id> all = path(static_cast<std::uint32_t>(iterations_.size()));
  all.push_back(last);
  return all;
}

/// If the value is saved, a commit writes `s` to it, at the enclosing iterations and the `further` indices.
inline void
update_writer::store_value(value_id v, value_id s, std::vector<value_id> const& further, value_id valid) {
  std::uint32_t const number = layout_.of(v);
  if (number == layout::none) return;
  std::vector<value_id> at = path(layout_[number].depth);
  at.insert(at.end(), further.begin(), further.end());
  stores_.push_back({number, at, s, valid});
  if (std::uint32_t const errors = layout_.compensation_of(v); errors != layout::none)
    stores_.push_back({errors, at, ir::nothing, valid}); // a recomputed sum's is 0
}

/// Whether the old value of an operation is rematerialised, and not saved. In maps these are operations about as cheap as a load, and
/// arrays whose length may differ between iterations; in loops, all operations, since nothing but the loop-carried values of each
/// iteration is saved.
inline bool update_writer::is_rematerialised(node_id n) const {
  function const& f = original();
  node_id const owner = is_outside_loops(f, f[n].parent) ? node_id(ir::nothing) : owner_of(f, n);
  if (owner != ir::nothing && is_counted_loop(f[owner].code)) return true;
  op const code = f[n].code;
  if (owner != ir::nothing)
    for (value_id const v : f.results_of(n))
      if (f.type_of(v).rank > 0 &&
          (f.type_of(v).rank > 1 || !is_counted(code) || !shapes_.arrays[index_of(v)]))
        return true;
  if (f[n].result_count != 1 || f[n].region_count != 0) return false;
  if (code == op::at || code == op::length) return true;
  return (ir::is_elementwise(code) || code == op::convert) && owner != ir::nothing;
}

} // namespace overdub::increments
