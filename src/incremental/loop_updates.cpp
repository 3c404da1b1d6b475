#include <overdub/implementation/incremental/affected_iterations.hpp>
#include <overdub/implementation/incremental/emitted_iterations.hpp>
#include <overdub/implementation/incremental/loop_updates.hpp>
#include <overdub/implementation/incremental/map_updates.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::increments {

void visit_loop(update_writer& w, node_id n) {
  std::vector<affected> all;
  if (std::string_view const why = affect_loop(w, n, all); !why.empty()) return recompute(w, n, why);
  function const& f = w.original();
  ir::region_flow const flow = w.code.flow_of(n);
  if (value_id const v = flow.trip_count(); !f.is_literal(v) && w.known.change_of(v) != nullptr)
    return append_to_loop(w, n, change(*w.known.change_of(v)));
  value_id const restarts = initial_values_differ(w, n);
  if (all.empty() && restarts == ir::nothing) return; // the loop only uses a length
  region_id const body = flow.body();
  std::uint32_t const loop_carried = flow.carried(), stacked = f[n].result_count - loop_carried;
  value_id const count = w.known.new_value(flow.trip_count());
  auto [first, last] = bounds_of(w, n, all);
  if (restarts != ir::nothing) first = w.code.add(op::select, restarts, w.code.literal(ir::i64, 0), first);

  // A single affected iteration is peeled off: later ones need not compare their index with that of the changed element.
  bool const is_one = all.size() == 1 && all[0].from.list == ir::nothing && restarts == ir::nothing &&
                      stacked == 0 && is_short(w, body);
  value_id const alone = is_one ? all[0].from.index : value_id(ir::nothing); // the first one, if it exists
  value_id const begin = is_one ? w.code.add(op::add, first, w.code.literal(ir::i64, 1)) : first;

  std::size_t const from = w.known.checkpoint();
  std::vector<std::uint32_t> states;
  values new_values;
  auto const iterate = [&] {
    values initial;
    for (std::uint32_t k = 0; k < loop_carried; ++k) {
      states.push_back(w.code.saved.value(flow.argument(k)));
      value_id entering = w.code.read(states[k], w.code.path_to(first));
      if (restarts != ir::nothing)
        entering = w.code.selected(restarts, w.known.new_value(flow.initial(k)), entering);
      initial.push_back(entering);
    }
    if (is_one) {
      std::size_t const steps = w.code.made.steps.size(), before = w.known.checkpoint();
      initial = emit_loop_iteration(w, {.region = body, .index = alone}, initial);
      w.known.restore(before);
      w.code.made.steps.erase(
          w.code.made.steps.begin() + static_cast<std::ptrdiff_t>(steps),
          w.code.made.steps.end()); // counted once, with the other iterations
    }
    initial.insert(initial.begin(), begin);
    auto const loop = w.code.build().while_(
        initial, [&](values const& s) { return continues(w, s, count, is_one ? ir::nothing : last, states); },
        [&](values const& s) {
          values const entering(s.begin() + 1, s.end());
          iteration const each{
              .region = body, .index = s[0], .repeated_by = w.code.enclosing(), .lower_index = alone};
          values yielded = emit_loop_iteration(w, each, entering);
          yielded.insert(yielded.begin(), w.code.add(op::add, s[0], w.code.literal(ir::i64, 1)));
          yielded.insert(yielded.end(), entering.begin(), entering.end());
          return yielded;
        });
    w.known.restore(from);
    // The final loop-carried values, if the end was reached.
    value_id const stopped = loop.results[0], ended = w.code.add(op::eq, stopped, count);
    for (std::uint32_t s = 0; s < loop_carried; ++s) {
      value_id const before = w.known.old_value(flow.final(s));
      new_values.push_back(w.code.selected(ended, loop.results[1 + s], before));
    }
    new_values.insert(new_values.end(), loop.results.begin() + 1 + loop_carried, loop.results.end());
    new_values.push_back(stopped);
    w.known.restore(from);
    return new_values;
  };
  auto const keep = [&] {
    values unchanged;
    for (std::uint32_t s = 0; s < loop_carried; ++s) {
      value_id kept = w.known.old_value(flow.final(s));
      if (restarts != ir::nothing) // a loop without iterations
        kept = w.code.selected(restarts, w.known.new_value(flow.initial(s)), kept);
      unchanged.push_back(kept);
    }
    for (std::size_t s = loop_carried; s + 1 < new_values.size(); ++s)
      unchanged.push_back(ir::zero_value(w.code.cursor, w.code.type_of(new_values[s])));
    unchanged.push_back(first);
    w.known.restore(from);
    return unchanged;
  };
  // Nothing runs where no iteration is affected.
  auto const updated = w.code.build().if_(w.code.add(op::lt, first, count), iterate, keep);

  auto const result = [&](std::uint32_t s) { return updated.results[s]; };
  value_id const stop = result(loop_carried + stacked + loop_carried);
  for (std::uint32_t s = 0; s < loop_carried; ++s)
    w.code.record(
        {.of = w.code.flow_of(n).argument(s),
         .value = result(loop_carried + stacked + s),
         .path = {begin},
         .does = store::action::put_range});
  w.code.note(n, step::extent::from_the_first_affected);
  std::vector<value_id> elements;
  for (std::uint32_t s = 0; s < stacked; ++s) elements.push_back(result(loop_carried + s));
  if (stacked > 0) set_stacked_results(w, n, elements, first, stop);
  for (std::uint32_t s = 0; s < loop_carried; ++s)
    w.guards.set_or_guard_unchanged(n, flow.final(s), result(s));
}

/// The loop continues up to the last affected iteration, and as long as a loop-carried value differs from the saved one.
value_id continues(
    update_writer& w, values const& entering, value_id count, value_id last,
    std::span<std::uint32_t const> states) {
  value_id const k = entering[0];
  auto const is_different = [&](std::uint32_t s) {
    return w.code.differs(entering[s + 1], w.code.read(states[s], w.code.path_to(k)));
  };
  auto const is_affected_or_differs = [&] {
    value_id found = last == ir::nothing ? last : w.code.add(op::le, k, last);
    std::vector<std::uint32_t> arrays; // compared only where nothing else decides
    for (std::uint32_t s = 0; s < states.size(); ++s)
      if (w.code.type_of(entering[s + 1]).rank > 0)
        arrays.push_back(s);
      else
        found = found == ir::nothing ? is_different(s) : w.code.add(op::logical_or, found, is_different(s));
    auto const compare = [&](auto const& rest, value_id known, std::size_t i) -> value_id {
      if (i == arrays.size()) return known;
      auto const compare_next = [&] { return rest(rest, is_different(arrays[i]), i + 1); };
      if (known == ir::nothing) return compare_next();
      return w.code.build().if_(
          known, [&] { return w.code.literal(ir::boolean, 1); }, compare_next);
    };
    return compare(compare, found, 0);
  };
  return w.code.build().if_(
      w.code.add(op::lt, k, count), is_affected_or_differs, [&] { return w.code.literal(ir::boolean, 0); });
}

/// Emits an iteration that existed before, with new loop-carried values. Returns the yielded values. The caller restores the changes.
std::vector<value_id>
emit_loop_iteration(update_writer& w, iteration const& t, std::span<value_id const> entering) {
  w.code.enter(t);
  ir::region_flow const flow = w.code.flow_of(w.original()[t.region].parent);
  value_id const own = flow.index();
  w.known.set_old(own, t.index);
  for (std::uint32_t s = 0; s < entering.size(); ++s) {
    change& c = w.known.set_change(flow.argument(s));
    c.whole = true;
    c.new_value = entering[s];
  }
  visit(w, t.region);
  std::vector<value_id> new_values;
  for (value_id const v : w.original().operands_of(w.original().yield_of(t.region)))
    new_values.push_back(w.known.new_value(v));
  w.code.leave();
  return new_values;
}

/// Whether an iteration is so short that comparing an index in each of them matters.
bool is_short(update_writer const& w, region_id body) {
  static constexpr std::size_t maximum_duplicated = 64; // operations
  std::size_t size = 0;
  ir::walk(w.original(), body, [&](node_id) { ++size; });
  return size <= maximum_duplicated;
}

/// The stacked results of consecutive iterations are a list.
void set_stacked_results(
    update_writer& w, node_id n, std::span<value_id const> elements, value_id first, value_id stop) {
  value_id const ran = w.code.add(op::sub, stop, first), indices = w.code.indices_from(first, ran);
  auto const stacked = static_cast<std::uint32_t>(elements.size());
  for (std::uint32_t s = 0; s < stacked; ++s) {
    value_id const v = w.original().result(n, w.original()[n].result_count - stacked + s);
    delta p;
    p.list = indices;
    p.element = elements[s];
    p.source = layout::none - index_of(n); // no input's
    p.first = first;
    p.end = stop;
    if (is_summed(w.original(), v)) p.difference = w.known.differences(v, p, ran);
    w.known.set_change(v).deltas.push_back(p);
    if (w.original().type_of(v).rank > 1) (void)w.code.saved.value(v); // the length of saved rows is checked
    w.code.record({.of = v, .value = p.element, .path = {first}, .does = store::action::put_range});
  }
}

/// Emits the appended iterations of a loop, from its final loop-carried values.
void append_to_loop(update_writer& w, node_id n, change const& count) {
  ir::region_flow const flow = w.code.flow_of(n);
  std::uint32_t const loop_carried = flow.carried(), stacked = w.original()[n].result_count - loop_carried;
  values states;
  for (std::uint32_t s = 0; s < loop_carried; ++s) states.push_back(w.known.old_value(flow.final(s)));
  std::vector<std::vector<delta>> deltas(stacked);
  for (std::uint32_t s = 0; s < stacked; ++s) // the length of saved rows is checked
    if (value_id const v = w.original().result(n, loop_carried + s); w.original().type_of(v).rank > 1)
      (void)w.code.saved.value(v);
  if (count.appended_list != ir::nothing) {
    std::vector<value_id> const new_values = emit_new_iterations(w, n, count, states);
    for (std::uint32_t s = 0; s < stacked; ++s)
      add_appended_deltas(
          w, w.original().result(n, loop_carried + s), count, new_values[loop_carried + s], deltas[s]);
    states.assign(new_values.begin(), new_values.begin() + static_cast<std::ptrdiff_t>(loop_carried));
  }
  std::vector<value_id> const& appended_indices = count.appended_indices;
  for (std::uint32_t k = 0; k < appended_indices.size(); ++k) {
    std::vector<value_id> const new_values =
        emit_new_iteration(w, n, {flow.body(), appended_indices[k]}, states);
    for (std::uint32_t s = 0; s < stacked; ++s)
      add_appended_delta(
          w, w.original().result(n, loop_carried + s), appended_indices[k], new_values[loop_carried + s], k,
          deltas[s]);
    states.assign(new_values.begin(), new_values.begin() + static_cast<std::ptrdiff_t>(loop_carried));
    w.code.note(n, step::extent::appended_iteration);
  }
  for (std::uint32_t s = 0; s < loop_carried; ++s) w.known.set_whole(flow.final(s), states[s]);
  for (std::uint32_t s = 0; s < stacked; ++s)
    w.known.set_change(w.original().result(n, loop_carried + s)).deltas = std::move(deltas[s]);
}

/// Emits guards, and the affected iterations of a loop. Returns why it must be recomputed in full instead; empty, if it need not be.
std::string_view affect_loop(update_writer& w, node_id n, std::vector<affected>& all) {
  function const& f = w.original();
  ir::region_flow const flow = w.code.flow_of(n);
  if (!enclosing_depth(f, flow.index())) return "it is nested in a branch in a map";
  if (!w.code.iterations.empty() && !w.code.shapes.has_invariant_trip_count(n))
    return "its trip count may differ between iterations of the enclosing map";
  for (iteration const& enclosing : w.code.iterations)
    if (enclosing.list != ir::nothing)
      return "it is nested in a map of which a list of iterations is affected";
  if (f[n].attributes.is_reversed()) return "it runs backwards";
  if (flow.carried() == 0) return "it has no loop-carried value";
  value_id const count = flow.trip_count();
  change const* const of_count = f.is_literal(count) ? nullptr : w.known.change_of(count);
  if (of_count != nullptr && (!of_count->has_appended() || !w.code.iterations.empty()))
    return "its trip count may have changed";
  for (std::uint32_t s = 0; s < flow.carried(); ++s) {
    ir::type t = f.type_of(flow.argument(s));
    if (t.rank > 0 && !w.code.shapes.keeps_shape(flow.argument(s)))
      return "the length of a loop-carried array may differ between iterations";
    if (t.rank > 0 && !w.code.iterations.empty() && !w.code.shapes.is_invariant(flow.initial(s)))
      return "the length of a loop-carried array may differ between iterations of the enclosing map";
    t.rank = 0;
    if (!t.is_literal()) return "a loop-carried value is neither a number nor an array of numbers";
  }
  if (!w.code.iterations.empty() && returns_arrays(w, n))
    return "it is nested in a map, and returns arrays of arrays";
  bool accumulates = false;
  ir::walk(f, flow.body(), [&](node_id m) { accumulates = accumulates || f[m].code == op::accumulate; });
  if (accumulates) return "it adds to elements of arrays";
  affected_iterations const found = find_affected(w.code, w.known, n);
  if (!found.why.empty()) return found.why;
  for (affected_read const& r : found.reads)
    if (r.is_list() && !r.is_searchable()) return "the affected iterations are an unordered list";
  bool begins = false;
  for (std::uint32_t s = 0; s < flow.carried(); ++s)
    begins = begins || (!f.is_literal(flow.initial(s)) && w.known.change_of(flow.initial(s)) != nullptr);
  if (of_count != nullptr && (begins || !found.reads.empty()))
    return "iterations were appended, and inputs of the others, or initial values, changed, too";
  if (std::string_view const why = guard_common_reads(w, found.common); !why.empty()) return why;
  all = emit_affected(w, n, found.reads);
  return {};
}

/// The condition that an initial value differs. Nothing, if none changed.
value_id initial_values_differ(update_writer& w, node_id n) {
  value_id condition = ir::nothing;
  ir::region_flow const flow = w.code.flow_of(n);
  for (std::uint32_t s = 0; s < flow.carried(); ++s) {
    value_id const v = flow.initial(s);
    if (w.original().is_literal(v) || w.known.change_of(v) == nullptr) continue;
    value_id const before = w.known.old_value(v);
    value_id const differs_here = w.code.differs(w.known.new_value(v), before);
    condition = condition == ir::nothing ? differs_here : w.code.add(op::logical_or, condition, differs_here);
  }
  return condition;
}

/// The first and the last affected iteration. Where there is none, the trip count and -1.
std::pair<value_id, value_id> bounds_of(update_writer& w, node_id n, std::vector<affected> const& all) {
  value_id const count = w.known.new_value(w.code.flow_of(n).trip_count());
  value_id first = ir::nothing, last = ir::nothing;
  for (affected const& r : all) {
    value_id low = r.from.index, high = r.from.index;
    if (r.from.list != ir::nothing) std::tie(low, high) = bounds_of_list(w.code, r.from, count);
    value_id const valid =
        r.from.list != ir::nothing ? value_id(ir::nothing) : w.code.both(r.from.valid, in_range(w, n, r));
    if (valid != ir::nothing) {
      low = w.code.add(op::select, valid, low, count);
      high = w.code.add(op::select, valid, high, w.code.literal(ir::i64, ~std::uint64_t{0}));
    }
    first = first == ir::nothing ? low : w.code.add(op::min, first, low);
    last = last == ir::nothing ? high : w.code.add(op::max, last, high);
  }
  if (first == ir::nothing) return {count, w.code.literal(ir::i64, ~std::uint64_t{0})};
  return {first, last};
}

/// Maps, reductions, loops and branches in an iteration of a loop are recomputed in full. Of an array of which elements changed, they
/// read only the elements that they use.
void recompute_nested(update_writer& w, node_id n) {
  static constexpr std::string_view why = "it is nested in a loop";
  if (!reads_elements(w, n)) return recompute(w, n, why);
  std::size_t const steps = w.code.made.steps.size();
  values operands;
  for (value_id const v : w.original().operands_of(n)) operands.push_back(w.known.new_value(v));
  ir::builder to = w.code.build();
  node_id const made = to.open_like(w.original(), n, operands);
  bool const was_new = std::exchange(w.code.is_new_iteration, true);
  for (std::uint32_t i = 0; i < w.original()[n].region_count; ++i) {
    region_id const from = w.original().region_at(n, i);
    std::size_t const before = w.known.checkpoint();
    to.in_region(made, i, [&] {
      for (std::uint32_t k = 0; k < w.original()[from].argument_count; ++k) {
        change& c = w.known.set_change(w.original().argument(from, k));
        c.whole = true;
        c.new_value = w.written().argument(w.code.cursor.region(), k);
      }
      visit(w, from);
      values yielded;
      for (value_id const v : w.original().operands_of(w.original().yield_of(from)))
        yielded.push_back(w.known.new_value(v));
      return yielded;
    });
    w.known.restore(before);
  }
  w.code.is_new_iteration = was_new;
  values const results = to.close(made).results;
  w.code.made.steps.erase(
      w.code.made.steps.begin() + static_cast<std::ptrdiff_t>(steps), w.code.made.steps.end());
  w.code.note(n, step::extent::whole, why);
  for (std::uint32_t k = 0; k < results.size(); ++k) w.known.set_whole(w.original().result(n, k), results[k]);
}

/// Whether an operation's regions read an array of which elements changed, and which need not be copied.
bool reads_elements(update_writer& w, node_id n) {
  if (w.original()[n].region_count == 0) return false;
  for (value_id const v : w.known.captured(n))
    if (change const* const c = w.known.change_of(v);
        c != nullptr && !c->whole && c->appended_input == layout::none)
      return true;
  return false;
}

} // namespace overdub::increments
