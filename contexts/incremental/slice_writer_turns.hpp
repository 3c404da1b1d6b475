// Maps: the turns that a change reaches run again.
#pragma once

#include <overdub/contexts/incremental/slice_writer_reached.hpp>

namespace overdub::contexts::increments {

inline void slice_writer::visit_map(node_id n) {
  std::vector<reached> all;
  std::vector<common_read> common;
  std::string_view why;
  value_id const count = original().operand(n, 0);
  change const* const of_count = original().is_literal(count) ? nullptr : change_of(count);
  std::vector<value_id> const grown = of_count == nullptr ? std::vector<value_id>() : of_count->grown;
  if (of_count != nullptr && (!of_count->has_grown() || !turns_.empty()))
    why = "its trip count may have changed";
  else if (!turns_around(original().argument(original().region_at(n, 0), 0)))
    why = "it is nested in a branch or a loop";
  else if (!turns_.empty() && !has_one_length(n))
    why = "its trip count may differ between iterations";
  else if (!turns_.empty() && gives_arrays(n))
    why = "it is nested in a map, and returns arrays";
  else
    why = find_reached(n, all, common);
  if (why.empty()) why = take_apart(common);
  if (!why.empty()) return run_again(n, why);

  // What a sum of the results needs; and what arrays are compared with, which are as long in all turns.
  for (value_id const v : original().results_of(n))
    if (is_summed(v) || original().type_of(v).rank > 1) (void)kept(v);
  // One by one before lists, which leave out what came before.
  std::vector<reached> ordered;
  for (bool const lists : {false, true})
    for (reached const& r : all)
      if ((r.from.list != ir::nothing) == lists) ordered.push_back(r);
  all = std::move(ordered);
  pieces_of_results pieces(original()[n].result_count);
  for (std::uint32_t k = 0; k < grown.size(); ++k) {
    std::vector<value_id> const given = run_new_turn(n, {original().region_at(n, 0), grown[k]}, {});
    for (std::uint32_t i = 0; i < given.size(); ++i)
      add_new_piece(original().result(n, i), grown[k], given[i], k, pieces[i]);
    note(n, step::extent::appended_iteration);
  }
  if (of_count != nullptr && of_count->came != ir::nothing) {
    std::vector<value_id> const given = run_new_turns(n, *of_count, {});
    for (std::uint32_t i = 0; i < given.size(); ++i)
      add_new_pieces(original().result(n, i), *of_count, given[i], pieces[i]);
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<reached> const earlier(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
    if (all[k].from.list == ir::nothing)
      run_turn(n, all[k], k, earlier, pieces);
    else
      run_turns(n, all[k], earlier, pieces);
  }
  for (std::uint32_t i = 0; i < pieces.size(); ++i)
    if (!pieces[i].empty()) set_change(original().result(n, i)).pieces = std::move(pieces[i]);
}

inline bool slice_writer::gives_arrays(node_id n) const {
  for (value_id const v : original().results_of(n))
    if (original().type_of(v).rank > 1) return true;
  return false;
}

/// Whether a map in another one surely has as many turns in each of the other's: what is kept of it is an array of arrays.
inline bool slice_writer::has_one_length(node_id n) const {
  function const& f = original();
  auto const is_outside = [&](value_id v) { return f.is_literal(v) || is_at_top(f.region_of(v)); };
  value_id count = f.operand(n, 0);
  while (f.is_result(count) &&
         !is_outside(count)) { // more or less by a literal is the same in each turn, too
    node_id const m = f.node_of(count);
    if ((f[m].code != op::add && f[m].code != op::sub) || !f.is_literal(f.operand(m, 1))) break;
    count = f.operand(m, 0);
  }
  if (is_outside(count)) return true;
  if (!f.is_result(count) || f[f.node_of(count)].code != op::length) return false;
  for (value_id const v : f.operands_of(f.node_of(count))) {
    bool const is_row =
        f.is_result(v) && f[f.node_of(v)].code == op::at && is_outside(f.operand(f.node_of(v), 0));
    if (is_outside(v) || is_row) return true; // the others are as long
  }
  return false;
}

/// What a map gave in a turn.
inline value_id slice_writer::element_before(value_id v, value_id index) {
  std::uint32_t const number = kept(v);
  auto where = path(layout_[number].turns);
  where.push_back(index);
  return read(number, where);
}

/// Runs a map's body for a turn, the last one of turns_, and returns what it gives; nothing where that stays.
inline std::vector<value_id> slice_writer::run_body(node_id n, reached const& r) {
  region_id const body = original().region_at(n, 0);
  auto const know = [&](value_id v, value_id s) {
    std::uint32_t const i = index_of(v);
    undo_.push_back({v, changes_[i], old_[i], now_[i]});
    old_[i] = s;
  };
  know(original().argument(body, 0), turns_.back().index);
  if (r.asked != ir::nothing) know(r.asked, r.known);
  visit(body);
  std::vector<value_id> given;
  node_id const last = original()[body].last;
  for (std::uint32_t k = 0; k < original()[last].operand_count; ++k) {
    value_id const v = original().operand(last, k);
    bool const changed = !original().is_literal(v) && change_of(v) != nullptr;
    given.push_back(changed ? now(v) : value_id(ir::nothing));
  }
  return given;
}

/// Runs a turn that was not there before, of a map or of a loop with what it carries, and returns what it gives.
inline std::vector<value_id>
slice_writer::run_new_turn(node_id n, turn const& t, std::span<value_id const> entering) {
  region_id const body = original().region_at(n, 0);
  std::size_t const from = mark(), first_store = stores_.size();
  bool const outside = std::exchange(is_new_turn_, true);
  turns_.push_back(t);
  auto const give = [&](std::uint32_t argument, value_id s) {
    change& c = set_change(original().argument(body, argument));
    c.whole = true;
    c.now = s;
    store_value(original().argument(body, argument), s);
  };
  give(0, t.index);
  for (std::uint32_t s = 0; s < entering.size(); ++s) give(s + 1, entering[s]);
  visit(body);
  std::vector<value_id> given;
  for (value_id const v : original().operands_of(original().yield_of(body))) given.push_back(now(v));
  turns_.pop_back();
  is_new_turn_ = outside;
  return_to(from);
  for (std::size_t k = first_store; k < stores_.size(); ++k) stores_[k].does = store::action::append;
  return given;
}

/// The same of a list of turns; of a loop, from what it carries on.
inline std::vector<value_id>
slice_writer::run_new_turns(node_id n, change const& count, std::span<value_id const> entering) {
  std::size_t const first_store = stores_.size();
  region_id const outside = at_.region();
  std::vector<value_id> operands{count.count_came};
  operands.insert(operands.end(), entering.begin(), entering.end());
  std::vector<std::vector<ir::type>> arguments(1);
  for (value_id const v : operands) arguments[0].push_back(type_of(v));
  node_id const many = at_.insert(original()[n].code, operands, std::span<ir::type const>(), {}, arguments);
  region_id const inside = written().region_at(many, 0);
  at_.to_end(inside);
  value_id const position = written().argument(inside, 0);
  value_id const index = at_.add(op::add, count.first_came, position);
  std::vector<value_id> states;
  for (std::uint32_t s = 0; s < entering.size(); ++s) states.push_back(written().argument(inside, s + 1));
  std::vector<value_id> yielded =
      run_new_turn(n, {original().region_at(n, 0), index, count.came, position, many}, states);
  auto const own = static_cast<std::uint32_t>(yielded.size());
  give_stores(first_store, index, inside, yielded);
  at_.yield(yielded);
  std::vector<ir::type> types;
  for (std::size_t k = 0; k < yielded.size(); ++k)
    types.push_back(k < entering.size() ? type_of(yielded[k]) : type_of(yielded[k]).array_of());
  at_.set_results(many, types);
  at_.to_end(outside);
  take_stores(first_store, index, count.came, inside, many, own);
  std::vector<value_id> given;
  for (std::uint32_t k = 0; k < own; ++k) given.push_back(written().result(many, k));
  note(n, step::extent::appended_iterations);
  return given;
}
inline void
slice_writer::add_new_pieces(value_id v, change const& count, value_id elements, std::vector<piece>& to) {
  piece p{.list = count.came, .element = elements, .first = count.first_came, .is_new = true};
  p.end = at_.add(op::add, count.first_came, count.count_came);
  p.source = layout::none - index_of(v); // no input's
  if (is_summed(v)) p.difference = elements;
  std::size_t const first_store = stores_.size();
  store_value(v, elements, {count.came});
  for (std::size_t k = first_store; k < stores_.size(); ++k) stores_[k].does = store::action::append;
  to.push_back(p);
}

/// What is to be stored of the turns of a list is given by each of them, and comes out of them as arrays.
inline void slice_writer::give_stores(
    std::size_t first_store, value_id index, region_id inside, std::vector<value_id>& yielded) {
  for (std::size_t k = first_store; k < stores_.size(); ++k) {
    for (value_id const v : stores_[k].path)
      if (is_inside(written(), v, inside) && v != index) yielded.push_back(v);
    if (stores_[k].value != ir::nothing) yielded.push_back(stores_[k].value);
    if (stores_[k].valid != ir::nothing) yielded.push_back(stores_[k].valid);
  }
}
inline void slice_writer::take_stores(
    std::size_t first_store, value_id index, value_id list, region_id inside, node_id many,
    std::uint32_t next) {
  auto const result = [&] { return written().result(many, next++); };
  for (std::size_t k = first_store; k < stores_.size(); ++k) {
    for (value_id& v : stores_[k].path)
      if (is_inside(written(), v, inside)) v = v == index ? list : result();
    if (stores_[k].value != ir::nothing) stores_[k].value = result();
    if (stores_[k].valid != ir::nothing) stores_[k].valid = result();
  }
}

/// What such a turn gives is an element more.
inline void slice_writer::add_new_piece(
    value_id v, value_id index, value_id element, std::uint32_t place, std::vector<piece>& to) {
  piece p{.index = index, .element = element, .place = place, .is_new = true};
  p.source = layout::none - index_of(v); // no input's
  if (is_summed(v)) p.difference = element;
  std::size_t const first_store = stores_.size();
  store_value(v, element, {index});
  for (std::size_t k = first_store; k < stores_.size(); ++k) stores_[k].does = store::action::append;
  to.push_back(p);
}

inline void slice_writer::run_turn(
    node_id n, reached const& r, std::size_t number, std::vector<reached> const& earlier,
    pieces_of_results& pieces) {
  value_id const index = r.from.index;
  value_id valid = in_range(n, r);
  assumption const is_there{
      original().argument(original().region_at(n, 0), 0), static_cast<std::uint32_t>(number) + 1};
  if (valid != ir::nothing && r.from.valid == ir::nothing && may_assume(is_there) && assume(is_there, valid))
    valid = ir::nothing;
  valid = both(r.from.valid, valid);
  for (reached const& e : earlier)
    if (value_id const met = met_by(e, r, index); met != ir::nothing)
      valid = both(valid, at_.add(op::logical_not, met));

  std::size_t const from = mark(), first_store = stores_.size();
  region_id const outside = at_.region();
  node_id choice = ir::nothing;
  if (valid != ir::nothing) {
    std::vector<ir::type> const no_arguments[2];
    choice = at_.insert(op::if_, std::array{valid}, std::span<ir::type const>(), {}, no_arguments);
    at_.to_end(written().region_at(choice, 0));
  }
  turns_.push_back({original().region_at(n, 0), index});
  std::vector<value_id> const given = run_body(n, r);
  std::vector<value_id> inside; // the elements, and what they change sums by
  for (std::uint32_t i = 0; i < given.size(); ++i) {
    if (given[i] == ir::nothing) continue;
    inside.push_back(given[i]);
    if (value_id const v = original().result(n, i); is_summed(v))
      inside.push_back(at_.add(op::sub, given[i], element_before(v, index)));
  }
  turns_.pop_back();
  return_to(from);
  if (choice != ir::nothing) inside = leave_choice(choice, inside, first_store, valid);
  at_.to_end(outside);
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < given.size(); ++i) {
    if (given[i] == ir::nothing) continue;
    piece p = r.from;
    p.valid = valid;
    p.part = nullptr;
    p.element = inside[next++];
    if (is_summed(original().result(n, i))) p.difference = inside[next++];
    pieces[i].push_back(p);
    store_value(original().result(n, i), p.element, {index}, valid);
  }
  note(n, step::extent::one_iteration);
}

/// Ends the branches of a turn that may not be there. What is to be stored of it comes out of them.
inline std::vector<value_id> slice_writer::leave_choice(
    node_id choice, std::vector<value_id> yielded, std::size_t first_store, value_id valid) {
  region_id const inside = written().region_at(choice, 0);
  std::size_t const count = yielded.size();
  auto const bring_out = [&](value_id& v) {
    if (v == ir::nothing || !is_inside(written(), v, inside)) return;
    yielded.push_back(v);
  };
  for (std::size_t k = first_store; k < stores_.size(); ++k) {
    for (value_id& v : stores_[k].path) bring_out(v);
    bring_out(stores_[k].value);
    bring_out(stores_[k].valid);
  }
  at_.yield(yielded);
  std::vector<ir::type> types;
  std::vector<value_id> nothing;
  at_.to_end(written().region_at(choice, 1));
  for (value_id const v : yielded) {
    types.push_back(type_of(v));
    nothing.push_back(nothing_of(type_of(v)));
  }
  at_.yield(nothing);
  at_.set_results(choice, types);
  at_.to_after(choice);
  std::vector<value_id> results;
  std::size_t next = count;
  for (std::size_t k = 0; k < count; ++k)
    results.push_back(written().result(choice, static_cast<std::uint32_t>(k)));
  auto const take = [&](value_id& v) {
    if (v == ir::nothing || !is_inside(written(), v, inside)) return;
    v = written().result(choice, static_cast<std::uint32_t>(next++));
  };
  for (std::size_t k = first_store; k < stores_.size(); ++k) {
    for (value_id& v : stores_[k].path) take(v);
    take(stores_[k].value);
    value_id& known = stores_[k].valid;
    if (known != ir::nothing && is_inside(written(), known, inside))
      take(known); // nothing, where the choice is not taken
    else
      known = both(valid, known);
  }
  return results;
}

/// A value of a type for what is not there.
inline value_id slice_writer::nothing_of(ir::type t) {
  if (t.rank == 0) return literal(t, 0);
  value_id const none = literal(ir::i64, 0);
  if (t.rank == 1) return written().result(at_.insert(op::array, {}, std::array{t}));
  value_id const inner = nothing_of(t.element_type());
  return written().result(at_.insert(op::fill, std::array{none, inner}, std::array{t}));
}

/// The turns of a list.
inline void slice_writer::run_turns(
    node_id n, reached const& r, std::vector<reached> const& earlier, pieces_of_results& pieces) {
  std::size_t const from = mark(), first_store = stores_.size();
  region_id const outside = at_.region();
  value_id const count = at_.add(op::length, r.from.list);
  std::vector<ir::type> const arguments[] = {{ir::i64}};
  node_id const many = at_.insert(op::map, std::array{count}, std::span<ir::type const>(), {}, arguments);
  region_id const inside = written().region_at(many, 0);
  at_.to_end(inside);
  value_id const position = written().argument(inside, 0);
  value_id const index = at(r.from.list, position);
  turns_.push_back({original().region_at(n, 0), index, r.from.list, position, many});
  std::vector<value_id> const given = run_body(n, r);
  value_id met = ir::nothing;
  for (reached const& e : earlier)
    if (value_id const m = met_by(e, r, index); m != ir::nothing)
      met = met == ir::nothing ? m : at_.add(op::logical_or, met, m);

  // Sums in turns that ran already have got theirs.
  for (std::size_t k = first_store; met != ir::nothing && k < stores_.size(); ++k)
    if (value_id& by = stores_[k].value; stores_[k].does == store::action::add)
      by = at_.add(op::select, met, literal(type_of(by), 0), by);

  std::vector<value_id> yielded;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parts(given.size()); // the element, and the difference
  for (std::uint32_t i = 0; i < given.size(); ++i) {
    if (given[i] == ir::nothing) continue;
    parts[i].first = static_cast<std::uint32_t>(yielded.size());
    yielded.push_back(given[i]);
    value_id const v = original().result(n, i);
    if (!is_summed(v)) continue;
    value_id difference = at_.add(op::sub, given[i], element_before(v, index));
    if (met != ir::nothing)
      difference = at_.add(op::select, met, literal(type_of(difference), 0), difference);
    parts[i].second = static_cast<std::uint32_t>(yielded.size());
    yielded.push_back(difference);
  }
  turns_.pop_back();
  return_to(from);
  auto const own = static_cast<std::uint32_t>(yielded.size());
  give_stores(first_store, index, inside, yielded);
  at_.yield(yielded);
  std::vector<ir::type> types;
  for (value_id const v : yielded) types.push_back(type_of(v).array_of());
  at_.set_results(many, types);
  at_.to_end(outside);
  auto const result = [&](std::uint32_t k) { return written().result(many, k); };
  take_stores(first_store, index, r.from.list, inside, many, own);
  for (std::uint32_t i = 0; i < given.size(); ++i) {
    if (given[i] == ir::nothing) continue;
    piece p = r.from;
    p.part = nullptr;
    p.element = result(parts[i].first);
    value_id const v = original().result(n, i);
    if (is_summed(v)) p.difference = result(parts[i].second);
    pieces[i].push_back(p);
    store_value(v, p.element, {r.from.list});
  }
  note(n, step::extent::some_iterations);
}

} // namespace overdub::contexts::increments
