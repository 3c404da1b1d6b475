// Values of the function in the slice: as they were before the change, and as they are now.
#pragma once

#include <overdub/contexts/incremental/slice_writer.hpp>

namespace overdub::contexts::increments {

// ---- what is known of values, as long as a turn is written

inline change& slice_writer::set_change(value_id v) {
  std::uint32_t const i = index_of(v);
  undo_.push_back({v, changes_[i], old_[i], now_[i]});
  pool_.emplace_back();
  changes_[i] = static_cast<std::uint32_t>(pool_.size());
  now_[i] = ir::nothing;
  return pool_.back();
}

inline void slice_writer::set_whole(value_id v, value_id now) {
  change& c = set_change(v);
  c.whole = true;
  c.now = now;
  store_value(v, now);
}

inline void slice_writer::return_to(std::size_t mark) {
  for (; undo_.size() > mark; undo_.pop_back()) {
    undo const& u = undo_.back();
    std::uint32_t const i = index_of(u.value);
    changes_[i] = u.change;
    old_[i] = u.old;
    now_[i] = u.now;
  }
}

// ---- values

/// A value before the change. What is cheap to compute inside of a turn is computed, all else kept.
inline value_id slice_writer::old(value_id v) {
  function const& f = original();
  if (f.is_literal(v)) return literal(f.type_of(v), f.bits_of(v));
  std::uint32_t const i = index_of(v);
  if (old_[i] != ir::nothing) return old_[i];
  value_id found;
  if (f.is_result(v) && is_computed_again(f.node_of(v))) {
    // What it uses may be found on the way, in a function that grows.
    node_id const n = f.node_of(v);
    value_map before;
    for (std::uint32_t k = 0; k < original()[n].operand_count; ++k)
      before.insert_or_assign(original().operand(n, k), old(original().operand(n, k)));
    if (original()[n].region_count != 0)
      for (value_id const u : captured(n)) before.insert_or_assign(u, old(u));
    node_id const made = at_.clone(f_, n, before);
    silence(made);
    found = written().result(made, original()[v].index);
  } else {
    std::uint32_t const number = kept(v);
    auto const at = path(layout_[number].turns);
    found = read(number, at);
    if (layout_.remainder_of(v) != layout::none)
      found = at_.add(op::add, found, read(layout_.remainder_of(v), at));
  }
  undo_.push_back({v, changes_[i], old_[i], now_[i]});
  old_[i] = found;
  return found;
}

/// What is computed to know a value before the change is no call that hooks observe.
inline void slice_writer::silence(node_id made) {
  std::vector<node_id> hooks;
  for (region_id const r : written().regions_of(made))
    ir::walk(written(), r, [&](node_id n) {
      if (ir::is_observer(written(), n)) hooks.push_back(n);
    });
  for (node_id const n : hooks) at_.erase(n);
}

/// Whether hooks observe calls in the regions of an operation.
inline bool slice_writer::is_observed_by_hooks(node_id n) const {
  bool any = false;
  for (region_id const r : original().regions_of(n))
    ir::walk(original(), r, [&](node_id m) { any = any || ir::is_observer(original(), m); });
  return any;
}

/// A value now.
inline value_id slice_writer::now(value_id v) {
  change const* const c = change_of(v);
  if (c == nullptr) return old(v);
  if (c->whole) return c->now;
  std::uint32_t const i = index_of(v);
  if (now_[i] != ir::nothing) return now_[i];
  std::uint32_t const given = c->appended != layout::none ? c->appended : c->listed;
  value_id made;
  if (given != layout::none) {
    made = parameter_for({.what = slice_parameter::kind::input, .variable = given}, original().type_of(v));
  } else {
    region_id const here = at_.region();
    if (node_id const around = repeated_around(v); around != ir::nothing) at_.to_before(around);
    made = whole(old(v), *c);
    at_.to_end(here);
  }
  undo_.push_back({v, changes_[i], old_[i], now_[i]});
  now_[i] = made;
  return made;
}

/// The outermost operation that would make it again in each turn, of what is there before; nothing, where there is none.
inline node_id slice_writer::repeated_around(value_id v) const {
  function const& f = original();
  if (!is_at_top(f.region_of(v)) || (f.is_result(v) && is_computed_again(f.node_of(v)))) return ir::nothing;
  for (turn const& t : turns_)
    if (t.around != ir::nothing) return t.around;
  return ir::nothing;
}

/// An array of which some elements changed, made as a whole: O(its length).
inline value_id slice_writer::whole(value_id array, change const& c) {
  for (piece const& p : c.pieces) array = replaced(array, p);
  return array;
}

inline value_id slice_writer::replaced(value_id array, piece const& p) {
  ir::type const results[] = {type_of(array)};
  if (p.is_new && p.list != ir::nothing) return at_.add(op::concat, array, p.element);
  if (p.is_new) {
    value_id const last[] = {p.element};
    ir::type const row = type_of(array).element_type();
    value_id const behind =
        row.rank == 0
            ? written().result(at_.insert(op::array, last, results))
            : written().result(at_.insert(op::fill, std::array{literal(ir::i64, 1), p.element}, results));
    return at_.add(op::concat, array, behind);
  }
  if (p.list != ir::nothing) {
    value_id const operands[] = {at_.add(op::length, p.list), array};
    std::vector<ir::type> const arguments[] = {{ir::i64, type_of(array)}};
    node_id const loop = at_.insert(op::loop, operands, results, {}, arguments);
    region_id const body = written().region_at(loop, 0);
    at_.to_end(body);
    value_id const k = written().argument(body, 0), carried = written().argument(body, 1);
    value_id const next[] = {at_.add(op::update, carried, at(p.list, k), at(p.element, k))};
    at_.yield(next);
    at_.to_after(loop);
    return written().result(loop);
  }
  node_id choice = ir::nothing;
  if (p.valid != ir::nothing) {
    value_id const operands[] = {p.valid};
    std::vector<ir::type> const arguments[2];
    choice = at_.insert(op::if_, operands, results, {}, arguments);
    at_.to_end(written().region_at(choice, 0));
  }
  value_id const element = p.part == nullptr ? p.element : whole(at(array, p.index), *p.part);
  value_id const made = at_.add(op::update, array, p.index, element);
  if (choice == ir::nothing) return made;
  at_.yield(std::array{made});
  at_.to_end(written().region_at(choice, 1));
  at_.yield(std::array{array});
  at_.to_after(choice);
  return written().result(choice);
}

// ---- what is kept

inline value_id slice_writer::read(std::uint32_t number, std::vector<value_id> const& path) {
  value_id const array = parameter_for({.variable = number}, layout_[number].type);
  return path.empty() ? array : at(array, path);
}
inline value_id slice_writer::at(value_id array, std::vector<value_id> const& path) {
  std::vector<value_id> operands{array};
  operands.insert(operands.end(), path.begin(), path.end());
  ir::type result = type_of(array);
  for (std::size_t k = 0; k < path.size(); ++k) result = result.element_type();
  return written().result(at_.insert(op::at, operands, std::array{result}));
}

inline value_id slice_writer::parameter_for(slice_parameter const& key, ir::type t) {
  for (parameter const& p : parameters_)
    if (p.what == key) return p.value;
  // It becomes an argument of the slice at the end.
  ir::cursor front(made_.program, draft_, function::body);
  front.to_start(function::body);
  node_id const stand_in = front.insert(op::host, {}, std::array{t});
  parameters_.push_back({key, written().result(stand_in)});
  return parameters_.back().value;
}

/// The variable of a value, which becomes one.
inline std::uint32_t slice_writer::kept(value_id v) {
  if (std::uint32_t const number = layout_.of(v); number != layout::none) return number;
  std::uint32_t const turns = *turns_around(v);
  ir::type t = original().type_of(v);
  for (std::uint32_t k = 0; k < turns; ++k) t = t.array_of();
  late_ = late_ || passed_[index_of(v)] != 0;
  return layout_.add({.of = v, .type = t, .what = variable::role::kept, .turns = turns});
}

inline std::uint32_t slice_writer::remainder(value_id v) {
  if (std::uint32_t const number = layout_.remainder_of(v); number != layout::none) return number;
  variable r = layout_[kept(v)];
  r.what = variable::role::remainder;
  late_ = late_ || passed_[index_of(v)] != 0;
  return layout_.add(r);
}

/// How many maps and loops a value stands in; nothing where it stands in something else, which keeps nothing: in `while`, in a
/// reduction, or in a branch in a turn.
inline std::optional<std::uint32_t> slice_writer::turns_around(value_id v) const {
  function const& f = original();
  std::uint32_t turns = 0;
  for (region_id r = f.region_of(v); r != function::body; ++turns) {
    node_id const owner = f[r].parent;
    if (f[owner].code == op::if_ && is_at_top(r)) return turns;
    if (f[owner].code != op::map && f[owner].code != op::loop) return {};
    r = f[owner].parent;
  }
  return turns;
}
/// Whether a region stands in branches alone.
inline bool slice_writer::is_at_top(region_id r) const {
  function const& f = original();
  for (; r != function::body; r = f[f[r].parent].parent)
    if (f[f[r].parent].code != op::if_) return false;
  return true;
}

inline std::vector<value_id> slice_writer::path(std::uint32_t turns) const {
  std::vector<value_id> all;
  for (std::uint32_t k = 0; k < turns; ++k) all.push_back(turns_[k].index);
  return all;
}

/// To a turn of a map or loop in the turns that are written.
inline std::vector<value_id> slice_writer::path_to(value_id last) const {
  std::vector<value_id> all = path(static_cast<std::uint32_t>(turns_.size()));
  all.push_back(last);
  return all;
}

/// A variable of the value's gets this, or its part at these indices behind those of the turns.
inline void
slice_writer::store_value(value_id v, value_id s, std::vector<value_id> const& further, value_id valid) {
  std::uint32_t const number = layout_.of(v);
  if (number == layout::none) return;
  std::vector<value_id> at = path(layout_[number].turns);
  at.insert(at.end(), further.begin(), further.end());
  stores_.push_back({number, at, s, valid});
  if (std::uint32_t const rest = layout_.remainder_of(v); rest != layout::none)
    stores_.push_back({rest, at, ir::nothing, valid}); // nothing was lost yet
}

/// Whether an operation's value before the change is computed, and not kept: inside of maps, what is about as cheap as reading, and
/// arrays that may have another length in each turn; and all in a loop, whose turns keep what they begin with alone.
inline bool slice_writer::is_computed_again(node_id n) const {
  function const& f = original();
  node_id const owner = is_at_top(f[n].parent) ? node_id(ir::nothing) : f[f[n].parent].parent;
  if (owner != ir::nothing && f[owner].code == op::loop) return true;
  op const code = f[n].code;
  if (owner != ir::nothing)
    for (value_id const v : f.results_of(n))
      if (f.type_of(v).rank > 0 &&
          (f.type_of(v).rank > 1 || (code != op::map && code != op::loop) || !has_one_shape(v)))
        return true;
  if (f[n].result_count != 1 || f[n].region_count != 0) return false;
  if (code == op::at || code == op::length) return true;
  return (ir::is_elementwise(code) || code == op::convert) && owner != ir::nothing;
}

} // namespace overdub::contexts::increments
