// Loops with loop-carried values: they are recomputed from the first affected iteration on, until all loop-carried values equal the saved
// ones (early cutoff, as in salsa).
#pragma once

#include <overdub/implementation/incremental/update_writer.hpp>

namespace overdub::increments {

inline void update_writer::visit_loop(node_id n) {
  std::vector<affected> all;
  if (std::string_view const why = why_recompute_loop(n, all); !why.empty()) return recompute(n, why);
  function const& f = original();
  ir::region_flow const flow = flow_of(n);
  if (value_id const v = flow.trip_count(); !f.is_literal(v) && known_.change_of(v) != nullptr)
    return append_to_loop(n, change(*known_.change_of(v)));
  value_id const restarts = initial_values_differ(n);
  if (all.empty() && restarts == ir::nothing) return; // the loop only uses a length
  region_id const body = flow.body();
  std::uint32_t const loop_carried = flow.carried(), stacked = f[n].result_count - loop_carried;
  value_id const count = known_.new_value(flow.trip_count());
  auto [first, last] = bounds_of(n, all);
  if (restarts != ir::nothing) first = at_.add(op::select, restarts, literal(ir::i64, 0), first);

  // A single affected iteration is peeled off: later ones need not compare their index with that of the changed element.
  bool const is_one = all.size() == 1 && all[0].from.list == ir::nothing && restarts == ir::nothing &&
                      stacked == 0 && is_short(body);
  value_id const alone = is_one ? all[0].from.index : value_id(ir::nothing); // the first one, if it exists
  value_id const begin = is_one ? at_.add(op::add, first, literal(ir::i64, 1)) : first;

  std::size_t const from = known_.checkpoint();
  std::vector<std::uint32_t> states;
  values new_values;
  auto const iterate = [&] {
    values initial;
    for (std::uint32_t k = 0; k < loop_carried; ++k) {
      states.push_back(known_.save(flow.argument(k)));
      value_id entering = read(states[k], path_to(first));
      if (restarts != ir::nothing) entering = selected(restarts, known_.new_value(flow.initial(k)), entering);
      initial.push_back(entering);
    }
    if (is_one) {
      std::size_t const steps = made_.steps.size(), before = known_.checkpoint();
      initial = emit_loop_iteration({.region = body, .index = alone}, initial);
      known_.restore(before);
      made_.steps.erase(
          made_.steps.begin() + static_cast<std::ptrdiff_t>(steps),
          made_.steps.end()); // counted once, with the other iterations
    }
    initial.insert(initial.begin(), begin);
    auto const loop = build().while_(
        initial, [&](values const& s) { return continues(s, count, is_one ? ir::nothing : last, states); },
        [&](values const& s) {
          values const entering(s.begin() + 1, s.end());
          iteration const each{
              .region = body, .index = s[0], .repeated_by = enclosing(), .lower_index = alone};
          values yielded = emit_loop_iteration(each, entering);
          yielded.insert(yielded.begin(), at_.add(op::add, s[0], literal(ir::i64, 1)));
          yielded.insert(yielded.end(), entering.begin(), entering.end());
          return yielded;
        });
    known_.restore(from);
    // The final loop-carried values, if the end was reached.
    value_id const stopped = loop.results[0], ended = at_.add(op::eq, stopped, count);
    for (std::uint32_t s = 0; s < loop_carried; ++s) {
      value_id const before = known_.old_value(flow.final(s));
      new_values.push_back(selected(ended, loop.results[1 + s], before));
    }
    new_values.insert(new_values.end(), loop.results.begin() + 1 + loop_carried, loop.results.end());
    new_values.push_back(stopped);
    known_.restore(from);
    return new_values;
  };
  auto const keep = [&] {
    values unchanged;
    for (std::uint32_t s = 0; s < loop_carried; ++s) {
      value_id kept = known_.old_value(flow.final(s));
      if (restarts != ir::nothing) // a loop without iterations
        kept = selected(restarts, known_.new_value(flow.initial(s)), kept);
      unchanged.push_back(kept);
    }
    for (std::size_t s = loop_carried; s + 1 < new_values.size(); ++s)
      unchanged.push_back(ir::zero_value(at_, type_of(new_values[s])));
    unchanged.push_back(first);
    known_.restore(from);
    return unchanged;
  };
  // Nothing runs where no iteration is affected.
  auto const updated = build().if_(at_.add(op::lt, first, count), iterate, keep);

  auto const result = [&](std::uint32_t s) { return updated.results[s]; };
  value_id const stop = result(loop_carried + stacked + loop_carried);
  for (std::uint32_t s = 0; s < loop_carried; ++s) {
    stores_.push_back(
        {states[s], path_to(begin), result(loop_carried + stacked + s), ir::nothing,
         store::action::put_range});
  }
  note(n, step::extent::from_the_first_affected);
  std::vector<value_id> elements;
  for (std::uint32_t s = 0; s < stacked; ++s) elements.push_back(result(loop_carried + s));
  if (stacked > 0) set_stacked_results(n, elements, first, stop);
  for (std::uint32_t s = 0; s < loop_carried; ++s)
    guards_.set_or_guard_unchanged(n, flow.final(s), result(s));
}

/// The loop continues up to the last affected iteration, and as long as a loop-carried value differs from the saved one.
inline value_id update_writer::continues(
    values const& entering, value_id count, value_id last, std::span<std::uint32_t const> states) {
  value_id const k = entering[0];
  auto const is_different = [&](std::uint32_t s) {
    return differs(entering[s + 1], read(states[s], path_to(k)));
  };
  auto const is_affected_or_differs = [&] {
    value_id found = last == ir::nothing ? last : at_.add(op::le, k, last);
    std::vector<std::uint32_t> arrays; // compared only where nothing else decides
    for (std::uint32_t s = 0; s < states.size(); ++s)
      if (type_of(entering[s + 1]).rank > 0)
        arrays.push_back(s);
      else
        found = found == ir::nothing ? is_different(s) : at_.add(op::logical_or, found, is_different(s));
    auto const compare = [&](auto const& rest, value_id known, std::size_t i) -> value_id {
      if (i == arrays.size()) return known;
      auto const compare_next = [&] { return rest(rest, is_different(arrays[i]), i + 1); };
      if (known == ir::nothing) return compare_next();
      return build().if_(
          known, [&] { return literal(ir::boolean, 1); }, compare_next);
    };
    return compare(compare, found, 0);
  };
  return build().if_(
      at_.add(op::lt, k, count), is_affected_or_differs, [&] { return literal(ir::boolean, 0); });
}

/// Emits an iteration that existed before, with new loop-carried values. Returns the yielded values. The caller restores the changes.
inline std::vector<value_id>
update_writer::emit_loop_iteration(iteration const& t, std::span<value_id const> entering) {
  iterations_.push_back(t);
  ir::region_flow const flow = flow_of(original()[t.region].parent);
  value_id const own = flow.index();
  known_.set_old(own, t.index);
  for (std::uint32_t s = 0; s < entering.size(); ++s) {
    change& c = known_.set_change(flow.argument(s));
    c.whole = true;
    c.new_value = entering[s];
  }
  visit(t.region);
  std::vector<value_id> new_values;
  for (value_id const v : original().operands_of(original().yield_of(t.region)))
    new_values.push_back(known_.new_value(v));
  iterations_.pop_back();
  return new_values;
}

/// Whether an iteration is so short that comparing an index in each of them matters.
inline bool update_writer::is_short(region_id body) const {
  std::size_t size = 0;
  ir::walk(original(), body, [&](node_id) { ++size; });
  return size <= maximum_duplicated;
}

/// The stacked results of consecutive iterations are a list.
inline void update_writer::set_stacked_results(
    node_id n, std::span<value_id const> elements, value_id first, value_id stop) {
  value_id const ran = at_.add(op::sub, stop, first), indices = indices_from(first, ran);
  auto const stacked = static_cast<std::uint32_t>(elements.size());
  for (std::uint32_t s = 0; s < stacked; ++s) {
    value_id const v = original().result(n, original()[n].result_count - stacked + s);
    delta p;
    p.list = indices;
    p.element = elements[s];
    p.source = layout::none - index_of(n); // no input's
    p.first = first;
    p.end = stop;
    if (is_summed(original(), v)) p.difference = known_.differences(v, p, ran);
    known_.set_change(v).deltas.push_back(p);
    if (original().type_of(v).rank > 1) (void)known_.save(v); // the length of saved rows is checked
    if (std::uint32_t const number = layout_.of(v); number != layout::none)
      stores_.push_back({number, path_to(first), p.element, ir::nothing, store::action::put_range});
  }
}

/// Emits the appended iterations of a loop, from its final loop-carried values.
inline void update_writer::append_to_loop(node_id n, change const& count) {
  ir::region_flow const flow = flow_of(n);
  std::uint32_t const loop_carried = flow.carried(), stacked = original()[n].result_count - loop_carried;
  values states;
  for (std::uint32_t s = 0; s < loop_carried; ++s) states.push_back(known_.old_value(flow.final(s)));
  std::vector<std::vector<delta>> deltas(stacked);
  for (std::uint32_t s = 0; s < stacked; ++s) // the length of saved rows is checked
    if (value_id const v = original().result(n, loop_carried + s); original().type_of(v).rank > 1)
      (void)known_.save(v);
  if (count.appended_list != ir::nothing) {
    std::vector<value_id> const new_values = emit_new_iterations(n, count, states);
    for (std::uint32_t s = 0; s < stacked; ++s)
      add_appended_deltas(
          original().result(n, loop_carried + s), count, new_values[loop_carried + s], deltas[s]);
    states.assign(new_values.begin(), new_values.begin() + static_cast<std::ptrdiff_t>(loop_carried));
  }
  std::vector<value_id> const& appended_indices = count.appended_indices;
  for (std::uint32_t k = 0; k < appended_indices.size(); ++k) {
    std::vector<value_id> const new_values =
        emit_new_iteration(n, {flow.body(), appended_indices[k]}, states);
    for (std::uint32_t s = 0; s < stacked; ++s)
      add_appended_delta(
          original().result(n, loop_carried + s), appended_indices[k], new_values[loop_carried + s], k,
          deltas[s]);
    states.assign(new_values.begin(), new_values.begin() + static_cast<std::ptrdiff_t>(loop_carried));
    note(n, step::extent::appended_iteration);
  }
  for (std::uint32_t s = 0; s < loop_carried; ++s) known_.set_whole(flow.final(s), states[s]);
  for (std::uint32_t s = 0; s < stacked; ++s)
    known_.set_change(original().result(n, loop_carried + s)).deltas = std::move(deltas[s]);
}

/// Why a loop must be recomputed in full. Empty, if it need not be; then finds the affected iterations.
inline std::string_view update_writer::why_recompute_loop(node_id n, std::vector<affected>& all) {
  function const& f = original();
  ir::region_flow const flow = flow_of(n);
  if (!enclosing_depth(flow.index())) return "it is nested in a branch in a map";
  if (!iterations_.empty() && !shapes_.has_invariant_trip_count(n))
    return "its trip count may differ between iterations of the enclosing map";
  for (iteration const& enclosing : iterations_)
    if (enclosing.list != ir::nothing)
      return "it is nested in a map of which a list of iterations is affected";
  if (f[n].attributes.is_reversed()) return "it runs backwards";
  if (flow.carried() == 0) return "it has no loop-carried value";
  value_id const count = flow.trip_count();
  change const* const of_count = f.is_literal(count) ? nullptr : known_.change_of(count);
  if (of_count != nullptr && (!of_count->has_appended() || !iterations_.empty()))
    return "its trip count may have changed";
  for (std::uint32_t s = 0; s < flow.carried(); ++s) {
    ir::type t = f.type_of(flow.argument(s));
    if (t.rank > 0 && !shapes_.keeps_shape(flow.argument(s)))
      return "the length of a loop-carried array may differ between iterations";
    if (t.rank > 0 && !iterations_.empty() && !shapes_.is_invariant(flow.initial(s)))
      return "the length of a loop-carried array may differ between iterations of the enclosing map";
    t.rank = 0;
    if (!t.is_literal()) return "a loop-carried value is neither a number nor an array of numbers";
  }
  if (!iterations_.empty() && returns_arrays(n)) return "it is nested in a map, and returns arrays of arrays";
  bool accumulates = false;
  ir::walk(f, flow.body(), [&](node_id m) { accumulates = accumulates || f[m].code == op::accumulate; });
  if (accumulates) return "it adds to elements of arrays";
  std::vector<affected_iterations::common_read> common;
  if (std::string_view const why = affected_.find(n, all, common); !why.empty()) return why;
  for (affected const& r : all)
    if (r.from.list != ir::nothing && !is_searchable(r.from))
      return "the affected iterations are an unordered list";
  bool begins = false;
  for (std::uint32_t s = 0; s < flow.carried(); ++s)
    begins = begins || (!f.is_literal(flow.initial(s)) && known_.change_of(flow.initial(s)) != nullptr);
  if (of_count != nullptr && (begins || !all.empty()))
    return "iterations were appended, and inputs of the others, or initial values, changed, too";
  return affected_.guard_common_reads(common);
}

/// The condition that an initial value differs. Nothing, if none changed.
inline value_id update_writer::initial_values_differ(node_id n) {
  value_id condition = ir::nothing;
  ir::region_flow const flow = flow_of(n);
  for (std::uint32_t s = 0; s < flow.carried(); ++s) {
    value_id const v = flow.initial(s);
    if (original().is_literal(v) || known_.change_of(v) == nullptr) continue;
    value_id const before = known_.old_value(v);
    value_id const differs_here = differs(known_.new_value(v), before);
    condition = condition == ir::nothing ? differs_here : at_.add(op::logical_or, condition, differs_here);
  }
  return condition;
}

/// The first and the last affected iteration. Where there is none, the trip count and -1.
inline std::pair<value_id, value_id> update_writer::bounds_of(node_id n, std::vector<affected> const& all) {
  value_id const count = known_.new_value(flow_of(n).trip_count());
  value_id first = ir::nothing, last = ir::nothing;
  for (affected const& r : all) {
    value_id low = r.from.index, high = r.from.index;
    if (r.from.list != ir::nothing) std::tie(low, high) = lists_.bounds_of_list(r.from, count);
    value_id const valid =
        r.from.list != ir::nothing ? value_id(ir::nothing) : both(r.from.valid, affected_.in_range(n, r));
    if (valid != ir::nothing) {
      low = at_.add(op::select, valid, low, count);
      high = at_.add(op::select, valid, high, literal(ir::i64, ~std::uint64_t{0}));
    }
    first = first == ir::nothing ? low : at_.add(op::min, first, low);
    last = last == ir::nothing ? high : at_.add(op::max, last, high);
  }
  if (first == ir::nothing) return {count, literal(ir::i64, ~std::uint64_t{0})};
  return {first, last};
}

/// Maps, reductions, loops and branches in an iteration of a loop are recomputed in full. Of an array of which elements changed, they
/// read only the elements that they use.
inline void update_writer::recompute_nested(node_id n) {
  static constexpr std::string_view why = "it is nested in a loop";
  if (!reads_elements(n)) return recompute(n, why);
  std::size_t const steps = made_.steps.size();
  values operands;
  for (value_id const v : original().operands_of(n)) operands.push_back(known_.new_value(v));
  ir::builder to = build();
  node_id const made = to.open_like(original(), n, operands);
  bool const was_new = std::exchange(is_new_iteration_, true);
  for (std::uint32_t i = 0; i < original()[n].region_count; ++i) {
    region_id const from = original().region_at(n, i);
    std::size_t const before = known_.checkpoint();
    to.in_region(made, i, [&] {
      for (std::uint32_t k = 0; k < original()[from].argument_count; ++k) {
        change& c = known_.set_change(original().argument(from, k));
        c.whole = true;
        c.new_value = written().argument(at_.region(), k);
      }
      visit(from);
      values yielded;
      for (value_id const v : original().operands_of(original().yield_of(from)))
        yielded.push_back(known_.new_value(v));
      return yielded;
    });
    known_.restore(before);
  }
  is_new_iteration_ = was_new;
  values const results = to.close(made).results;
  made_.steps.erase(made_.steps.begin() + static_cast<std::ptrdiff_t>(steps), made_.steps.end());
  note(n, step::extent::whole, why);
  for (std::uint32_t k = 0; k < results.size(); ++k) known_.set_whole(original().result(n, k), results[k]);
}

/// Whether an operation's regions read an array of which elements changed, and which need not be copied.
inline bool update_writer::reads_elements(node_id n) {
  if (original()[n].region_count == 0) return false;
  for (value_id const v : known_.captured(n))
    if (change const* const c = known_.change_of(v);
        c != nullptr && !c->whole && c->appended_input == layout::none)
      return true;
  return false;
}

} // namespace overdub::increments
