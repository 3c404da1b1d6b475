// Loops with loop-carried values: they are recomputed from the first affected iteration on, until all loop-carried values equal the saved
// ones (early cutoff, as in salsa).
#pragma once

#include <overdub/incremental/update_writer_branches.hpp>

namespace overdub::increments {

inline void update_writer::visit_loop(node_id n) {
  std::vector<affected> all;
  if (std::string_view const why = why_recompute_loop(n, all); !why.empty()) return recompute(n, why);
  function const& f = original();
  if (value_id const v = f.operand(n, 0); !f.is_literal(v) && change_of(v) != nullptr)
    return append_to_loop(n, change(*change_of(v)));
  value_id const restarts = initial_values_differ(n);
  if (all.empty() && restarts == ir::nothing) return; // the loop only uses a length
  region_id const body = f.region_at(n, 0), outside = at_.region();
  std::uint32_t const loop_carried = f[body].argument_count - 1, stacked = f[n].result_count - loop_carried;
  value_id const count = new_value(f.operand(n, 0));
  auto [first, last] = bounds_of(n, all);
  if (restarts != ir::nothing) first = at_.add(op::select, restarts, literal(ir::i64, 0), first);

  // A single affected iteration is peeled off: later ones need not compare their index with that of the changed element.
  bool const is_one = all.size() == 1 && all[0].from.list == ir::nothing && restarts == ir::nothing &&
                      stacked == 0 && is_short(body);
  value_id const alone = is_one ? all[0].from.index : value_id(ir::nothing); // the first one, if it exists
  value_id const begin = is_one ? at_.add(op::add, first, literal(ir::i64, 1)) : first;

  // Nothing runs where no iteration is affected.
  value_id const some = at_.add(op::lt, first, count);
  std::vector<ir::type> const no_arguments[2];
  node_id const choice = at_.insert(op::if_, std::array{some}, std::span<ir::type const>(), {}, no_arguments);
  at_.to_end(written().region_at(choice, 0));
  std::size_t const from = checkpoint();
  std::vector<value_id> operands;
  std::vector<ir::type> types{ir::i64};
  std::vector<std::uint32_t> states;
  for (std::uint32_t k = 0; k < loop_carried; ++k) {
    states.push_back(save(original().argument(body, k + 1)));
    value_id entering = read(states[k], path_to(first));
    if (restarts != ir::nothing)
      entering = selected(restarts, new_value(original().operand(n, k + 1)), entering);
    operands.push_back(entering);
    types.push_back(original().type_of(original().argument(body, k + 1)));
  }
  if (is_one) {
    std::size_t const steps = made_.steps.size(), before = checkpoint();
    operands = emit_loop_iteration({.region = body, .index = alone}, operands);
    restore(before);
    made_.steps.erase(
        made_.steps.begin() + static_cast<std::ptrdiff_t>(steps),
        made_.steps.end()); // counted once, with the other iterations
  }
  operands.insert(operands.begin(), begin);
  std::vector<std::vector<ir::type>> const arguments{types, types};
  node_id const loop = at_.insert(op::while_, operands, std::span<ir::type const>(), {}, arguments);

  emit_loop_condition(loop, count, is_one ? value_id(ir::nothing) : last, states);
  region_id const iterations = written().region_at(loop, 1);
  at_.to_end(iterations);
  value_id const index = written().argument(iterations, 0);
  std::vector<value_id> entering;
  for (std::uint32_t s = 0; s < loop_carried; ++s) entering.push_back(written().argument(iterations, s + 1));
  iteration const each{.region = body, .index = index, .repeated_by = loop, .lower_index = alone};
  std::vector<value_id> yielded = emit_loop_iteration(each, entering);
  yielded.insert(yielded.begin(), at_.add(op::add, index, literal(ir::i64, 1)));
  for (std::uint32_t s = 0; s < stacked; ++s)
    types.push_back(type_of(yielded[1 + loop_carried + s]).array_of());
  for (value_id const s : entering) {
    yielded.push_back(s);
    types.push_back(type_of(s).array_of());
  }
  at_.yield(yielded);
  restore(from);
  at_.set_results(loop, types);

  // The final loop-carried values, if the end was reached.
  at_.to_end(written().region_at(choice, 0));
  std::vector<value_id> new_values, otherwise;
  value_id const stopped = written().result(loop, 0);
  value_id const ended = at_.add(op::eq, stopped, count);
  for (std::uint32_t s = 0; s < loop_carried; ++s) {
    value_id const before = old_value(original().result(n, s));
    new_values.push_back(selected(ended, written().result(loop, 1 + s), before));
  }
  for (std::uint32_t s = 0; s < stacked + loop_carried; ++s)
    new_values.push_back(written().result(loop, 1 + loop_carried + s));
  new_values.push_back(stopped);
  at_.yield(new_values);
  restore(from);
  at_.to_end(written().region_at(choice, 1));
  for (std::uint32_t s = 0; s < loop_carried; ++s) {
    value_id unchanged = old_value(original().result(n, s));
    if (restarts != ir::nothing) // a loop without iterations
      unchanged = selected(restarts, new_value(original().operand(n, s + 1)), unchanged);
    otherwise.push_back(unchanged);
  }
  types.clear();
  for (value_id const v : new_values) types.push_back(type_of(v));
  for (std::size_t s = loop_carried; s + 1 < new_values.size(); ++s) otherwise.push_back(zero_of(types[s]));
  otherwise.push_back(first);
  at_.yield(otherwise);
  restore(from);
  at_.set_results(choice, types);
  at_.to_end(outside);

  auto const result = [&](std::uint32_t s) { return written().result(choice, s); };
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
    set_or_guard_unchanged(n, original().result(n, s), result(s));
}

/// The loop continues up to the last affected iteration, and as long as a loop-carried value differs from the saved one.
inline void update_writer::emit_loop_condition(
    node_id loop, value_id count, value_id last, std::span<std::uint32_t const> states) {
  region_id const test = written().region_at(loop, 0);
  at_.to_end(test);
  value_id const k = written().argument(test, 0);
  auto const is_different = [&](std::uint32_t s) {
    return differs(written().argument(test, s + 1), read(states[s], path_to(k)));
  };
  std::vector<ir::type> const none[2];
  value_id const is_inside = at_.add(op::lt, k, count);
  node_id const more = at_.insert(op::if_, std::array{is_inside}, std::array{ir::boolean}, {}, none);
  at_.to_end(written().region_at(more, 0));
  value_id continues = last == ir::nothing ? last : at_.add(op::le, k, last);
  std::vector<std::uint32_t> arrays; // compared only where nothing else decides
  for (std::uint32_t s = 0; s < states.size(); ++s)
    if (type_of(written().argument(test, s + 1)).rank > 0)
      arrays.push_back(s);
    else
      continues =
          continues == ir::nothing ? is_different(s) : at_.add(op::logical_or, continues, is_different(s));
  std::vector<node_id> choices;
  for (std::uint32_t const s : arrays) {
    if (continues != ir::nothing) {
      choices.push_back(at_.insert(op::if_, std::array{continues}, std::array{ir::boolean}, {}, none));
      at_.to_end(written().region_at(choices.back(), 0));
      at_.yield(std::array{literal(ir::boolean, 1)});
      at_.to_end(written().region_at(choices.back(), 1));
    }
    continues = is_different(s);
  }
  for (; !choices.empty(); choices.pop_back()) {
    at_.yield(std::array{continues});
    continues = written().result(choices.back());
    at_.to_after(choices.back());
  }
  at_.yield(std::array{continues});
  at_.to_end(written().region_at(more, 1));
  at_.yield(std::array{literal(ir::boolean, 0)});
  at_.to_end(test);
  at_.yield(std::array{written().result(more)});
}
/// Emits an iteration that existed before, with new loop-carried values. Returns what it yields. The caller restores the changes.
inline std::vector<value_id>
update_writer::emit_loop_iteration(iteration const& t, std::span<value_id const> entering) {
  iterations_.push_back(t);
  value_id const own = original().argument(t.region, 0);
  undo_.push_back({own, changes_[index_of(own)], old_[index_of(own)], new_[index_of(own)]});
  old_[index_of(own)] = t.index;
  for (std::uint32_t s = 0; s < entering.size(); ++s) {
    change& c = set_change(original().argument(t.region, s + 1));
    c.whole = true;
    c.new_value = entering[s];
  }
  visit(t.region);
  std::vector<value_id> new_values;
  for (value_id const v : original().operands_of(original().yield_of(t.region)))
    new_values.push_back(new_value(v));
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
    if (is_summed(v)) p.difference = differences(v, p, ran);
    set_change(v).deltas.push_back(p);
    if (original().type_of(v).rank > 1) (void)save(v); // the length of saved rows is checked
    if (std::uint32_t const number = layout_.of(v); number != layout::none)
      stores_.push_back({number, path_to(first), p.element, ir::nothing, store::action::put_range});
  }
}

/// Emits the appended iterations of a loop, from its final loop-carried values.
inline void update_writer::append_to_loop(node_id n, change const& count) {
  function const& f = original();
  region_id const body = f.region_at(n, 0);
  std::uint32_t const loop_carried = f[body].argument_count - 1, stacked = f[n].result_count - loop_carried;
  std::vector<value_id> states;
  for (std::uint32_t s = 0; s < loop_carried; ++s) states.push_back(old_value(original().result(n, s)));
  std::vector<std::vector<delta>> deltas(stacked);
  for (std::uint32_t s = 0; s < stacked; ++s) // the length of saved rows is checked
    if (value_id const v = original().result(n, loop_carried + s); original().type_of(v).rank > 1)
      (void)save(v);
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
        emit_new_iteration(n, {original().region_at(n, 0), appended_indices[k]}, states);
    for (std::uint32_t s = 0; s < stacked; ++s)
      add_appended_delta(
          original().result(n, loop_carried + s), appended_indices[k], new_values[loop_carried + s], k,
          deltas[s]);
    states.assign(new_values.begin(), new_values.begin() + static_cast<std::ptrdiff_t>(loop_carried));
    note(n, step::extent::appended_iteration);
  }
  for (std::uint32_t s = 0; s < loop_carried; ++s) set_whole(original().result(n, s), states[s]);
  for (std::uint32_t s = 0; s < stacked; ++s)
    set_change(original().result(n, loop_carried + s)).deltas = std::move(deltas[s]);
}

/// The differences of the elements of a list in a sum.
inline value_id update_writer::differences(value_id v, delta const& p, value_id count) {
  region_id const outside = at_.region();
  std::vector<ir::type> const index[] = {{ir::i64}};
  node_id const made = at_.insert(op::map, std::array{count}, std::array{type_of(p.element)}, {}, index);
  region_id const inside = written().region_at(made, 0);
  at_.to_end(inside);
  value_id const k = written().argument(inside, 0);
  at_.yield(std::array{at_.add(op::sub, at(p.element, k), old_element(v, at(p.list, k)))});
  at_.to_end(outside);
  return written().result(made);
}

/// Why a loop must be recomputed in full. Empty, if it need not be; then finds the affected iterations.
inline std::string_view update_writer::why_recompute_loop(node_id n, std::vector<affected>& all) {
  function const& f = original();
  region_id const body = f.region_at(n, 0);
  if (!enclosing_depth(f.argument(body, 0))) return "it is nested in a branch in a map";
  if (!iterations_.empty() && !shapes_.trip_counts[index_of(n)])
    return "its trip count may differ between iterations of the enclosing map";
  for (iteration const& enclosing : iterations_)
    if (enclosing.list != ir::nothing)
      return "it is nested in a map of which a list of iterations is affected";
  if (f[n].attributes.is_reversed()) return "it runs backwards";
  if (f[body].argument_count == 1) return "it has no loop-carried value";
  value_id const count = f.operand(n, 0);
  change const* const of_count = f.is_literal(count) ? nullptr : change_of(count);
  if (of_count != nullptr && (!of_count->has_appended() || !iterations_.empty()))
    return "its trip count may have changed";
  for (std::uint32_t s = 0; s + 1 < f[body].argument_count; ++s) {
    ir::type t = f.type_of(f.argument(body, s + 1));
    if (t.rank > 0 && !shapes_.loop_carried[index_of(f.argument(body, s + 1))])
      return "the length of a loop-carried array may differ between iterations";
    if (t.rank > 0 && !iterations_.empty() && !shapes_.arrays[index_of(f.operand(n, s + 1))])
      return "the length of a loop-carried array may differ between iterations of the enclosing map";
    t.rank = 0;
    if (!t.is_literal()) return "a loop-carried value is neither a number nor an array of numbers";
  }
  if (!iterations_.empty() && returns_arrays(n)) return "it is nested in a map, and returns arrays of arrays";
  bool accumulates = false;
  ir::walk(f, body, [&](node_id m) { accumulates = accumulates || f[m].code == op::accumulate; });
  if (accumulates) return "it adds to elements of arrays";
  std::vector<common_read> common;
  if (std::string_view const why = find_affected(n, all, common); !why.empty()) return why;
  for (affected const& r : all)
    if (r.from.list != ir::nothing && !is_searchable(r.from))
      return "the affected iterations are an unordered list";
  bool begins = false;
  for (std::uint32_t k = 1; k < f[n].operand_count; ++k)
    begins = begins || (!f.is_literal(f.operand(n, k)) && change_of(f.operand(n, k)) != nullptr);
  if (of_count != nullptr && (begins || !all.empty()))
    return "iterations were appended, and inputs of the others, or initial values, changed, too";
  return guard_common_reads(common);
}

/// The condition that an initial value differs. Nothing, if none changed.
inline value_id update_writer::initial_values_differ(node_id n) {
  value_id condition = ir::nothing;
  for (std::uint32_t k = 1; k < original()[n].operand_count; ++k) {
    value_id const v = original().operand(n, k);
    if (original().is_literal(v) || change_of(v) == nullptr) continue;
    value_id const differs_here = differs(new_value(v), old_value(v));
    condition = condition == ir::nothing ? differs_here : at_.add(op::logical_or, condition, differs_here);
  }
  return condition;
}

/// The first and the last affected iteration. Where there is none, the trip count and -1.
inline std::pair<value_id, value_id> update_writer::bounds_of(node_id n, std::vector<affected> const& all) {
  value_id const count = new_value(original().operand(n, 0));
  value_id first = ir::nothing, last = ir::nothing;
  for (affected const& r : all) {
    value_id low = r.from.index, high = r.from.index;
    if (r.from.list != ir::nothing) std::tie(low, high) = bounds_of_list(r.from, count);
    value_id const valid =
        r.from.list != ir::nothing ? value_id(ir::nothing) : both(r.from.valid, in_range(n, r));
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
  region_id const outside = at_.region();
  std::vector<value_id> operands;
  for (std::uint32_t k = 0; k < original()[n].operand_count; ++k)
    operands.push_back(new_value(original().operand(n, k)));
  std::vector<ir::type> results;
  for (value_id const v : original().results_of(n)) results.push_back(original().type_of(v));
  std::vector<std::vector<ir::type>> arguments;
  for (region_id const r : original().regions_of(n)) {
    arguments.emplace_back();
    for (value_id const v : original().arguments_of(r)) arguments.back().push_back(original().type_of(v));
  }
  ir::attributes const attributes = original()[n].attributes;
  node_id const made = at_.insert(original()[n].code, operands, results, attributes, arguments);
  bool const was_new = std::exchange(is_new_iteration_, true);
  for (std::uint32_t i = 0; i < original()[n].region_count; ++i) {
    region_id const from = original().region_at(n, i), to = written().region_at(made, i);
    std::size_t const before = checkpoint();
    at_.to_end(to);
    for (std::uint32_t k = 0; k < original()[from].argument_count; ++k) {
      change& c = set_change(original().argument(from, k));
      c.whole = true;
      c.new_value = written().argument(to, k);
    }
    visit(from);
    std::vector<value_id> yielded;
    for (value_id const v : original().operands_of(original().yield_of(from)))
      yielded.push_back(new_value(v));
    at_.yield(yielded);
    restore(before);
  }
  is_new_iteration_ = was_new;
  at_.to_end(outside);
  made_.steps.erase(made_.steps.begin() + static_cast<std::ptrdiff_t>(steps), made_.steps.end());
  note(n, step::extent::whole, why);
  for (std::uint32_t k = 0; k < original()[n].result_count; ++k)
    set_whole(original().result(n, k), written().result(made, k));
}
/// Whether an operation's regions read an array of which elements changed, and which need not be copied.
inline bool update_writer::reads_elements(node_id n) {
  if (original()[n].region_count == 0) return false;
  for (value_id const v : captured(n))
    if (change const* const c = change_of(v); c != nullptr && !c->whole && c->appended_input == layout::none)
      return true;
  return false;
}

/// Whether two values differ in their bits; a NaN differs from everything. Arrays differ if their lengths or any elements do.
inline value_id update_writer::differs(value_id now, value_id before) {
  if (type_of(now).rank > 0) return arrays_differ(now, before);
  value_id const other = at_.add(op::ne, now, before);
  if (!type_of(now).is_floating()) return other;
  value_id const sign = at_.add(op::ne, at_.add(op::signbit, now), at_.add(op::signbit, before));
  return at_.add(op::logical_or, other, sign);
}
inline value_id update_writer::arrays_differ(value_id now, value_id before) {
  region_id const here = at_.region();
  value_id const length = at_.add(op::length, now);
  value_id const is_as_long = at_.add(op::eq, length, at_.add(op::length, before));
  std::vector<ir::type> const none[2];
  node_id const choice = at_.insert(op::if_, std::array{is_as_long}, std::array{ir::boolean}, {}, none);
  at_.to_end(written().region_at(choice, 1));
  at_.yield(std::array{literal(ir::boolean, 1)});
  region_id const compared = written().region_at(choice, 0);
  at_.to_end(compared);
  std::vector<std::vector<ir::type>> const index{{ir::i64}, {ir::i64}};
  node_id const search =
      at_.insert(op::while_, std::array{literal(ir::i64, 0)}, std::array{ir::i64}, {}, index);
  region_id const test = written().region_at(search, 0), body = written().region_at(search, 1);
  at_.to_end(test);
  value_id const k = written().argument(test, 0);
  node_id const more =
      at_.insert(op::if_, std::array{at_.add(op::lt, k, length)}, std::array{ir::boolean}, {}, none);
  at_.to_end(written().region_at(more, 0));
  at_.yield(std::array{at_.add(op::logical_not, differs(at(now, k), at(before, k)))});
  at_.to_end(written().region_at(more, 1));
  at_.yield(std::array{literal(ir::boolean, 0)});
  at_.to_end(test);
  at_.yield(std::array{written().result(more)});
  at_.to_end(body);
  at_.yield(std::array{at_.add(op::add, written().argument(body, 0), literal(ir::i64, 1))});
  at_.to_end(compared);
  at_.yield(std::array{at_.add(op::lt, written().result(search), length)});
  at_.to_end(here);
  return written().result(choice);
}

} // namespace overdub::increments
