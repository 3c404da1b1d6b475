#include <overdub/implementation/incremental/affected_iterations.hpp>
#include <overdub/implementation/incremental/emitted_iterations.hpp>
#include <overdub/implementation/incremental/map_updates.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::increments {

void visit_map(update_writer& w, node_id n) {
  affected_iterations found;
  ir::region_flow const flow = w.code.flow_of(n);
  value_id const count = flow.trip_count();
  change const* const of_count = w.original().is_literal(count) ? nullptr : w.known.change_of(count);
  std::vector<value_id> const appended_indices =
      of_count == nullptr ? std::vector<value_id>() : of_count->appended_indices;
  if (of_count != nullptr && (!of_count->has_appended() || !w.code.iterations.empty()))
    found.why = "its trip count may have changed";
  else if (!enclosing_depth(w.original(), flow.index()))
    found.why = "it is nested in a branch or a loop";
  else if (!w.code.iterations.empty() && !w.code.shapes.has_invariant_trip_count(n))
    found.why = "its trip count may differ between iterations";
  else if (!w.code.iterations.empty() && returns_arrays(w, n))
    found.why = "it is nested in a map, and returns arrays";
  else
    found = find_affected(w.code, w.known, n);
  if (!found.why.empty()) return recompute(w, n, found.why);
  // First, since the affected iterations become arguments of the program, and their indices saved values.
  if (std::string_view const why = guard_common_reads(w, found.common); !why.empty())
    return recompute(w, n, why);
  std::vector<affected> all = emit_affected(w, n, found.reads);

  // Sums of results need the old elements; rows are compared with the saved rows, whose length is that of all iterations.
  for (value_id const v : w.original().results_of(n))
    if (is_summed(w.original(), v) || w.original().type_of(v).rank > 1) (void)w.code.saved.value(v);
  // Lists come last: their iterations leave out those that were emitted before.
  std::vector<affected> ordered;
  for (bool const lists : {false, true})
    for (affected const& r : all)
      if ((r.from.list != ir::nothing) == lists) ordered.push_back(r);
  all = std::move(ordered);
  deltas_of_results deltas(w.original()[n].result_count);
  for (std::uint32_t k = 0; k < appended_indices.size(); ++k) {
    std::vector<value_id> const new_values = emit_new_iteration(w, n, {flow.body(), appended_indices[k]}, {});
    for (std::uint32_t i = 0; i < new_values.size(); ++i)
      add_appended_delta(w, w.original().result(n, i), appended_indices[k], new_values[i], k, deltas[i]);
    w.code.note(n, step::extent::appended_iteration);
  }
  if (of_count != nullptr && of_count->appended_list != ir::nothing) {
    std::vector<value_id> const new_values = emit_new_iterations(w, n, *of_count, {});
    for (std::uint32_t i = 0; i < new_values.size(); ++i)
      add_appended_deltas(w, w.original().result(n, i), *of_count, new_values[i], deltas[i]);
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<affected> const earlier(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
    if (all[k].from.list == ir::nothing)
      emit_iteration(w, n, all[k], k, earlier, deltas);
    else
      emit_iteration_list(w, n, all[k], earlier, deltas);
  }
  for (std::uint32_t i = 0; i < deltas.size(); ++i)
    if (!deltas[i].empty()) w.known.set_change(w.original().result(n, i)).deltas = std::move(deltas[i]);
}

bool returns_arrays(update_writer const& w, node_id n) {
  for (value_id const v : w.original().results_of(n))
    if (w.original().type_of(v).rank > 1) return true;
  return false;
}

/// Emits the body of a map for the innermost of `w.code.iterations`. Returns the new elements; nothing for those that are unchanged.
std::vector<value_id> emit_body(update_writer& w, node_id n, affected const& r) {
  ir::region_flow const flow = w.code.flow_of(n);
  w.known.set_old(flow.index(), w.code.iterations.back().index);
  if (r.known_index != ir::nothing) w.known.set_old(r.known_index, r.known_as);
  visit(w, flow.body());
  std::vector<value_id> new_values;
  for (value_id const v : w.original().operands_of(w.original().yield_of(flow.body()))) {
    bool const changed = !w.original().is_literal(v) && w.known.change_of(v) != nullptr;
    new_values.push_back(changed ? w.known.new_value(v) : value_id(ir::nothing));
  }
  return new_values;
}

/// Emits an appended iteration of a map, or of a loop with its loop-carried values. Returns the yielded values.
std::vector<value_id>
emit_new_iteration(update_writer& w, node_id n, iteration const& t, std::span<value_id const> entering) {
  ir::region_flow const flow = w.code.flow_of(n);
  std::size_t const from = w.known.checkpoint(), first = w.code.computed.size();
  bool const outside = std::exchange(w.code.is_new_iteration, true);
  w.code.enter(t);
  auto const set_argument = [&](value_id argument, value_id s) {
    change& c = w.known.set_change(argument);
    c.whole = true;
    c.new_value = s;
    w.code.record({.of = argument, .value = s});
  };
  set_argument(flow.index(), t.index);
  for (std::uint32_t s = 0; s < entering.size(); ++s) set_argument(flow.argument(s), entering[s]);
  visit(w, flow.body());
  std::vector<value_id> new_values;
  for (value_id const v : w.original().operands_of(w.original().yield_of(flow.body())))
    new_values.push_back(w.known.new_value(v));
  w.code.leave();
  w.code.is_new_iteration = outside;
  w.known.restore(from);
  for (std::size_t k = first; k < w.code.computed.size(); ++k)
    w.code.computed[k].does = store::action::append;
  return new_values;
}

/// The same for a list of iterations. A loop continues from its last loop-carried values.
std::vector<value_id>
emit_new_iterations(update_writer& w, node_id n, change const& count, values const& entering) {
  auto const many = w.code.build().counted(
      w.original()[n].code, count.appended_count, entering, [&](value_id position, values const& states) {
        value_id const index = w.code.add(op::add, count.first_appended, position);
        return emit_new_iteration(
            w, n, {w.code.flow_of(n).body(), index, count.appended_list, position, w.code.enclosing()},
            states);
      });
  w.code.note(n, step::extent::appended_iterations);
  return many.results;
}

void add_appended_deltas(
    update_writer& w, value_id v, change const& count, value_id elements, std::vector<delta>& to) {
  delta p{
      .list = count.appended_list, .element = elements, .first = count.first_appended, .is_appended = true};
  p.end = w.code.add(op::add, count.first_appended, count.appended_count);
  p.source = layout::none - index_of(v); // no input's
  if (is_summed(w.original(), v)) p.difference = elements;
  w.code.record({.of = v, .value = elements, .path = {count.appended_list}, .does = store::action::append});
  to.push_back(p);
}

/// The element that an appended iteration yields.
void add_appended_delta(
    update_writer& w, value_id v, value_id index, value_id element, std::uint32_t ordinal,
    std::vector<delta>& to) {
  delta p{.index = index, .element = element, .ordinal = ordinal, .is_appended = true};
  p.source = layout::none - index_of(v); // no input's
  if (is_summed(w.original(), v)) p.difference = element;
  w.code.record({.of = v, .value = element, .path = {index}, .does = store::action::append});
  to.push_back(p);
}

void emit_iteration(
    update_writer& w, node_id n, affected const& r, std::size_t number, std::vector<affected> const& earlier,
    deltas_of_results& deltas) {
  value_id const index = r.from.index;
  value_id valid = in_range(w, n, r);
  guard const is_there{w.code.flow_of(n).index(), static_cast<std::uint32_t>(number) + 1};
  if (valid != ir::nothing && r.from.valid == ir::nothing && w.guards.may_speculate_on(is_there) &&
      w.guards.speculate_on(is_there, valid))
    valid = ir::nothing;
  valid = w.code.both(r.from.valid, valid);
  for (affected const& e : earlier)
    if (value_id const covered = is_covered_by(w, e, r, index); covered != ir::nothing)
      valid = w.code.both(valid, w.code.add(op::logical_not, covered));

  std::vector<value_id> new_values;
  values const inside = emit_if(w, valid, [&] {
    w.code.enter({w.code.flow_of(n).body(), index});
    new_values = emit_body(w, n, r);
    values yielded; // the new elements, and their differences in sums
    for (std::uint32_t i = 0; i < new_values.size(); ++i) {
      if (new_values[i] == ir::nothing) continue;
      yielded.push_back(new_values[i]);
      if (value_id const v = w.original().result(n, i); is_summed(w.original(), v))
        yielded.push_back(w.code.add(op::sub, new_values[i], w.known.old_element(v, index)));
    }
    w.code.leave();
    return yielded;
  });
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < new_values.size(); ++i) {
    if (new_values[i] == ir::nothing) continue;
    delta p = r.from;
    p.valid = valid;
    p.nested = nullptr;
    p.element = inside[next++];
    if (is_summed(w.original(), w.original().result(n, i))) p.difference = inside[next++];
    deltas[i].push_back(p);
    w.code.record({.of = w.original().result(n, i), .value = p.element, .path = {index}, .valid = valid});
  }
  w.code.note(n, step::extent::one_iteration);
}

/// Emits a map over a list of iterations.
void emit_iteration_list(
    update_writer& w, node_id n, affected const& r, std::vector<affected> const& earlier,
    deltas_of_results& deltas) {
  std::size_t const from = w.known.checkpoint(), first = w.code.computed.size();
  std::vector<value_id> new_values;
  // the position of the new element, and of its difference
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;
  auto const many = w.code.build().map(w.code.add(op::length, r.from.list), [&](value_id position) {
    value_id const index = w.code.at(r.from.list, position);
    w.code.enter({w.code.flow_of(n).body(), index, r.from.list, position, w.code.enclosing()});
    new_values = emit_body(w, n, r);
    value_id covered = ir::nothing;
    for (affected const& e : earlier)
      if (value_id const m = is_covered_by(w, e, r, index); m != ir::nothing)
        covered = covered == ir::nothing ? m : w.code.add(op::logical_or, covered, m);

    // Differences of sums in iterations that were emitted before are counted once.
    for (std::size_t k = first; covered != ir::nothing && k < w.code.computed.size(); ++k)
      if (value_id& by = w.code.computed[k].value; w.code.computed[k].does == store::action::add)
        by = w.code.add(op::select, covered, w.code.literal(w.code.type_of(by), 0), by);

    values yielded;
    parts.resize(new_values.size());
    for (std::uint32_t i = 0; i < new_values.size(); ++i) {
      if (new_values[i] == ir::nothing) continue;
      parts[i].first = static_cast<std::uint32_t>(yielded.size());
      yielded.push_back(new_values[i]);
      value_id const v = w.original().result(n, i);
      if (!is_summed(w.original(), v)) continue;
      value_id difference = w.code.add(op::sub, new_values[i], w.known.old_element(v, index));
      if (covered != ir::nothing)
        difference =
            w.code.add(op::select, covered, w.code.literal(w.code.type_of(difference), 0), difference);
      parts[i].second = static_cast<std::uint32_t>(yielded.size());
      yielded.push_back(difference);
    }
    w.code.leave();
    w.known.restore(from);
    return yielded;
  });
  for (std::uint32_t i = 0; i < new_values.size(); ++i) {
    if (new_values[i] == ir::nothing) continue;
    delta p = r.from;
    p.nested = nullptr;
    p.element = many.results[parts[i].first];
    value_id const v = w.original().result(n, i);
    if (is_summed(w.original(), v)) p.difference = many.results[parts[i].second];
    deltas[i].push_back(p);
    w.code.record({.of = v, .value = p.element, .path = {r.from.list}});
  }
  w.code.note(n, step::extent::some_iterations);
}

} // namespace overdub::increments
