// Maps: the affected iterations are recomputed.
#pragma once

#include <overdub/implementation/incremental/update_writer.hpp>

namespace overdub::increments {

inline void update_writer::visit_map(node_id n) {
  std::vector<affected> all;
  std::vector<affected_iterations::common_read> common;
  std::string_view why;
  ir::region_flow const flow = flow_of(n);
  value_id const count = flow.trip_count();
  change const* const of_count = original().is_literal(count) ? nullptr : known_.change_of(count);
  std::vector<value_id> const appended_indices =
      of_count == nullptr ? std::vector<value_id>() : of_count->appended_indices;
  if (of_count != nullptr && (!of_count->has_appended() || !iterations_.empty()))
    why = "its trip count may have changed";
  else if (!enclosing_depth(flow.index()))
    why = "it is nested in a branch or a loop";
  else if (!iterations_.empty() && !shapes_.has_invariant_trip_count(n))
    why = "its trip count may differ between iterations";
  else if (!iterations_.empty() && returns_arrays(n))
    why = "it is nested in a map, and returns arrays";
  else
    why = affected_.find(n, all, common);
  if (why.empty()) why = affected_.guard_common_reads(common);
  if (!why.empty()) return recompute(n, why);

  // Sums of results need the old elements; rows are compared with the saved rows, whose length is that of all iterations.
  for (value_id const v : original().results_of(n))
    if (is_summed(original(), v) || original().type_of(v).rank > 1) (void)known_.save(v);
  // Lists come last: their iterations leave out those that were emitted before.
  std::vector<affected> ordered;
  for (bool const lists : {false, true})
    for (affected const& r : all)
      if ((r.from.list != ir::nothing) == lists) ordered.push_back(r);
  all = std::move(ordered);
  deltas_of_results deltas(original()[n].result_count);
  for (std::uint32_t k = 0; k < appended_indices.size(); ++k) {
    std::vector<value_id> const new_values = emit_new_iteration(n, {flow.body(), appended_indices[k]}, {});
    for (std::uint32_t i = 0; i < new_values.size(); ++i)
      add_appended_delta(original().result(n, i), appended_indices[k], new_values[i], k, deltas[i]);
    note(n, step::extent::appended_iteration);
  }
  if (of_count != nullptr && of_count->appended_list != ir::nothing) {
    std::vector<value_id> const new_values = emit_new_iterations(n, *of_count, {});
    for (std::uint32_t i = 0; i < new_values.size(); ++i)
      add_appended_deltas(original().result(n, i), *of_count, new_values[i], deltas[i]);
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<affected> const earlier(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
    if (all[k].from.list == ir::nothing)
      emit_iteration(n, all[k], k, earlier, deltas);
    else
      emit_iteration_list(n, all[k], earlier, deltas);
  }
  for (std::uint32_t i = 0; i < deltas.size(); ++i)
    if (!deltas[i].empty()) known_.set_change(original().result(n, i)).deltas = std::move(deltas[i]);
}

inline bool update_writer::returns_arrays(node_id n) const {
  for (value_id const v : original().results_of(n))
    if (original().type_of(v).rank > 1) return true;
  return false;
}

/// Emits the body of a map for the innermost of `iterations_`. Returns the new elements; nothing for those that are unchanged.
inline std::vector<value_id> update_writer::emit_body(node_id n, affected const& r) {
  ir::region_flow const flow = flow_of(n);
  known_.set_old(flow.index(), iterations_.back().index);
  if (r.known_index != ir::nothing) known_.set_old(r.known_index, r.known_as);
  visit(flow.body());
  std::vector<value_id> new_values;
  for (value_id const v : original().operands_of(original().yield_of(flow.body()))) {
    bool const changed = !original().is_literal(v) && known_.change_of(v) != nullptr;
    new_values.push_back(changed ? known_.new_value(v) : value_id(ir::nothing));
  }
  return new_values;
}

/// Emits an appended iteration of a map, or of a loop with its loop-carried values. Returns the yielded values.
inline std::vector<value_id>
update_writer::emit_new_iteration(node_id n, iteration const& t, std::span<value_id const> entering) {
  ir::region_flow const flow = flow_of(n);
  std::size_t const from = known_.checkpoint(), first_store = stores_.size();
  bool const outside = std::exchange(is_new_iteration_, true);
  iterations_.push_back(t);
  auto const set_argument = [&](value_id argument, value_id s) {
    change& c = known_.set_change(argument);
    c.whole = true;
    c.new_value = s;
    known_.store_value(argument, s);
  };
  set_argument(flow.index(), t.index);
  for (std::uint32_t s = 0; s < entering.size(); ++s) set_argument(flow.argument(s), entering[s]);
  visit(flow.body());
  std::vector<value_id> new_values;
  for (value_id const v : original().operands_of(original().yield_of(flow.body())))
    new_values.push_back(known_.new_value(v));
  iterations_.pop_back();
  is_new_iteration_ = outside;
  known_.restore(from);
  for (std::size_t k = first_store; k < stores_.size(); ++k) stores_[k].does = store::action::append;
  return new_values;
}

/// The same for a list of iterations. A loop continues from its last loop-carried values.
inline std::vector<value_id>
update_writer::emit_new_iterations(node_id n, change const& count, values const& entering) {
  std::size_t const first_store = stores_.size();
  value_id index;
  std::uint32_t own = 0;
  auto many = build().counted(
      original()[n].code, count.appended_count, entering, [&](value_id position, values const& states) {
        index = at_.add(op::add, count.first_appended, position);
        iteration const each{flow_of(n).body(), index, count.appended_list, position, enclosing()};
        values yielded = emit_new_iteration(n, each, states);
        own = static_cast<std::uint32_t>(yielded.size());
        yield_stores(first_store, index, yielded);
        return yielded;
      });
  collect_stores(first_store, index, count.appended_list, many.node, own);
  note(n, step::extent::appended_iterations);
  many.results.resize(own);
  return many.results;
}

inline void update_writer::add_appended_deltas(
    value_id v, change const& count, value_id elements, std::vector<delta>& to) {
  delta p{
      .list = count.appended_list, .element = elements, .first = count.first_appended, .is_appended = true};
  p.end = at_.add(op::add, count.first_appended, count.appended_count);
  p.source = layout::none - index_of(v); // no input's
  if (is_summed(original(), v)) p.difference = elements;
  std::size_t const first_store = stores_.size();
  known_.store_value(v, elements, {count.appended_list});
  for (std::size_t k = first_store; k < stores_.size(); ++k) stores_[k].does = store::action::append;
  to.push_back(p);
}

/// A map over a list of iterations returns what they store as arrays, which are collected after it.
inline void update_writer::yield_stores(std::size_t first_store, value_id index, values& yielded) {
  for (std::size_t k = first_store; k < stores_.size(); ++k) {
    for (value_id const v : stores_[k].path)
      if (ir::is_defined_in(written(), v, at_.region()) && v != index) yielded.push_back(v);
    if (stores_[k].value != ir::nothing) yielded.push_back(stores_[k].value);
    if (stores_[k].valid != ir::nothing) yielded.push_back(stores_[k].valid);
  }
}

inline void update_writer::collect_stores(
    std::size_t first_store, value_id index, value_id list, node_id many, std::uint32_t next) {
  region_id const inside = written().region_at(many, 0);
  auto const result = [&] { return written().result(many, next++); };
  for (std::size_t k = first_store; k < stores_.size(); ++k) {
    for (value_id& v : stores_[k].path)
      if (ir::is_defined_in(written(), v, inside)) v = v == index ? list : result();
    if (stores_[k].value != ir::nothing) stores_[k].value = result();
    if (stores_[k].valid != ir::nothing) stores_[k].valid = result();
  }
}

/// The element that an appended iteration yields.
inline void update_writer::add_appended_delta(
    value_id v, value_id index, value_id element, std::uint32_t ordinal, std::vector<delta>& to) {
  delta p{.index = index, .element = element, .ordinal = ordinal, .is_appended = true};
  p.source = layout::none - index_of(v); // no input's
  if (is_summed(original(), v)) p.difference = element;
  std::size_t const first_store = stores_.size();
  known_.store_value(v, element, {index});
  for (std::size_t k = first_store; k < stores_.size(); ++k) stores_[k].does = store::action::append;
  to.push_back(p);
}

inline void update_writer::emit_iteration(
    node_id n, affected const& r, std::size_t number, std::vector<affected> const& earlier,
    deltas_of_results& deltas) {
  value_id const index = r.from.index;
  value_id valid = affected_.in_range(n, r);
  guard const is_there{flow_of(n).index(), static_cast<std::uint32_t>(number) + 1};
  if (valid != ir::nothing && r.from.valid == ir::nothing && guards_.may_speculate_on(is_there) &&
      guards_.speculate_on(is_there, valid))
    valid = ir::nothing;
  valid = both(r.from.valid, valid);
  for (affected const& e : earlier)
    if (value_id const covered = affected_.is_covered_by(e, r, index); covered != ir::nothing)
      valid = both(valid, at_.add(op::logical_not, covered));

  std::vector<value_id> new_values;
  values const inside = emit_if(valid, [&] {
    iterations_.push_back({flow_of(n).body(), index});
    new_values = emit_body(n, r);
    values yielded; // the new elements, and their differences in sums
    for (std::uint32_t i = 0; i < new_values.size(); ++i) {
      if (new_values[i] == ir::nothing) continue;
      yielded.push_back(new_values[i]);
      if (value_id const v = original().result(n, i); is_summed(original(), v))
        yielded.push_back(at_.add(op::sub, new_values[i], known_.old_element(v, index)));
    }
    iterations_.pop_back();
    return yielded;
  });
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < new_values.size(); ++i) {
    if (new_values[i] == ir::nothing) continue;
    delta p = r.from;
    p.valid = valid;
    p.nested = nullptr;
    p.element = inside[next++];
    if (is_summed(original(), original().result(n, i))) p.difference = inside[next++];
    deltas[i].push_back(p);
    known_.store_value(original().result(n, i), p.element, {index}, valid);
  }
  note(n, step::extent::one_iteration);
}

/// Emits a map over a list of iterations.
inline void update_writer::emit_iteration_list(
    node_id n, affected const& r, std::vector<affected> const& earlier, deltas_of_results& deltas) {
  std::size_t const from = known_.checkpoint(), first_store = stores_.size();
  value_id index;
  std::vector<value_id> new_values;
  // the position of the new element, and of its difference
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;
  std::uint32_t own = 0;
  auto const many = build().map(at_.add(op::length, r.from.list), [&](value_id position) {
    index = at(r.from.list, position);
    iterations_.push_back({flow_of(n).body(), index, r.from.list, position, enclosing()});
    new_values = emit_body(n, r);
    value_id covered = ir::nothing;
    for (affected const& e : earlier)
      if (value_id const m = affected_.is_covered_by(e, r, index); m != ir::nothing)
        covered = covered == ir::nothing ? m : at_.add(op::logical_or, covered, m);

    // Differences of sums in iterations that were emitted before are counted once.
    for (std::size_t k = first_store; covered != ir::nothing && k < stores_.size(); ++k)
      if (value_id& by = stores_[k].value; stores_[k].does == store::action::add)
        by = at_.add(op::select, covered, literal(type_of(by), 0), by);

    values yielded;
    parts.resize(new_values.size());
    for (std::uint32_t i = 0; i < new_values.size(); ++i) {
      if (new_values[i] == ir::nothing) continue;
      parts[i].first = static_cast<std::uint32_t>(yielded.size());
      yielded.push_back(new_values[i]);
      value_id const v = original().result(n, i);
      if (!is_summed(original(), v)) continue;
      value_id difference = at_.add(op::sub, new_values[i], known_.old_element(v, index));
      if (covered != ir::nothing)
        difference = at_.add(op::select, covered, literal(type_of(difference), 0), difference);
      parts[i].second = static_cast<std::uint32_t>(yielded.size());
      yielded.push_back(difference);
    }
    iterations_.pop_back();
    known_.restore(from);
    own = static_cast<std::uint32_t>(yielded.size());
    yield_stores(first_store, index, yielded);
    return yielded;
  });
  collect_stores(first_store, index, r.from.list, many.node, own);
  for (std::uint32_t i = 0; i < new_values.size(); ++i) {
    if (new_values[i] == ir::nothing) continue;
    delta p = r.from;
    p.nested = nullptr;
    p.element = many.results[parts[i].first];
    value_id const v = original().result(n, i);
    if (is_summed(original(), v)) p.difference = many.results[parts[i].second];
    deltas[i].push_back(p);
    known_.store_value(v, p.element, {r.from.list});
  }
  note(n, step::extent::some_iterations);
}

/// Emits code that runs only where the condition holds; nothing stands for true. Returns what `emit` returns, and zeros where
/// the condition does not hold. Undoes the changes that it sets.
template <class Emit>
values update_writer::emit_if(value_id condition, Emit const& emit) {
  std::size_t const from = known_.checkpoint(), first_store = stores_.size();
  auto const emit_and_restore = [&] {
    values const made = emit();
    known_.restore(from);
    return made;
  };
  if (condition == ir::nothing) return emit_and_restore();
  ir::builder to = build();
  node_id const choice = to.open(op::if_, {condition}, 2);
  region_id const inside = written().region_at(choice, 0);
  auto const is_own = [&](value_id v) { return v != ir::nothing && ir::is_defined_in(written(), v, inside); };
  values yielded;
  std::size_t count = 0;
  to.in_region(choice, 0, [&] {
    yielded = emit_and_restore();
    count = yielded.size();
    auto const bring_out = [&](value_id v) {
      if (is_own(v)) yielded.push_back(v);
    };
    for (std::size_t k = first_store; k < stores_.size(); ++k) {
      for (value_id const v : stores_[k].path) bring_out(v);
      bring_out(stores_[k].value);
      bring_out(stores_[k].valid);
    }
    return yielded;
  });
  to.in_region(choice, 1, [&] {
    for (value_id& v : yielded) v = ir::zero_value(at_, type_of(v));
    return yielded;
  });
  values results = to.close(choice).results;
  std::size_t next = count;
  auto const collect = [&](value_id& v) {
    if (is_own(v)) v = results[next++];
  };
  for (std::size_t k = first_store; k < stores_.size(); ++k) {
    for (value_id& v : stores_[k].path) collect(v);
    collect(stores_[k].value);
    value_id& known = stores_[k].valid;
    if (is_own(known))
      collect(known); // false, where the branch is not taken
    else
      known = both(condition, known);
  }
  results.resize(count);
  return results;
}

} // namespace overdub::increments
