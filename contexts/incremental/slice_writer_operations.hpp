// What a change does to operations: numbers are computed again, and what is not followed runs again as a whole.
#pragma once

#include <overdub/contexts/incremental/slice_writer_elements.hpp>

namespace overdub::contexts::increments {

inline void slice_writer::visit(region_id r) {
  for (node_id n = original()[r].first; n != original()[r].last; n = original()[n].next) {
    visit(n);
    for (value_id const v : original().results_of(n)) passed_[index_of(v)] = 1;
  }
}

inline void slice_writer::visit(node_id n) {
  if (!is_reached(n)) return;
  bool const is_place = original()[n].code == op::at || original()[n].code == op::length;
  if (runs_all_)
    return run_again(
        n, "a sum was not finite, rows had different sizes, memory ran out, or a plain run saved nothing");
  if (is_in_loop() && (original()[n].region_count != 0 || original()[n].code == op::reduce))
    return run_inside(n);
  if (is_new_turn_ && !is_place) return run_again(n);
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
    run_again(n);
    add_difference(n);
    return add_growth(n);
  }
}

/// The difference of a sum of two is that of both: it is more exact than what the sums differ by, and there before.
inline void slice_writer::add_difference(node_id n) {
  op const code = original()[n].code;
  if ((code != op::add && code != op::sub) || !is_at_top(original()[n].parent) ||
      original().type_of(original().result(n)) != ir::f64)
    return;
  bool is_known = false; // of one at least
  for (value_id const v : original().operands_of(n))
    is_known =
        is_known || (!original().is_literal(v) && change_of(v) != nullptr && change_of(v)->by != ir::nothing);
  if (!is_known) return;
  value_id by = ir::nothing;
  for (std::uint32_t k = 0; k < 2; ++k) {
    value_id const v = original().operand(n, k);
    change const* const c = original().is_literal(v) ? nullptr : change_of(v);
    if (c == nullptr) continue;
    value_id part = c->by != ir::nothing ? c->by : at_.add(op::sub, now(v), old(v));
    if (k == 1 && code == op::sub) part = at_.add(op::neg, part);
    by = by == ir::nothing ? part : at_.add(op::add, by, part);
  }
  pool_[changes_[index_of(original().result(n))] - 1].by = by;
}

/// A length is another one where elements came behind the end. Those of several arrays are one.
inline void slice_writer::visit_length(node_id n) {
  value_id const v = original().result(n);
  change* const first = changes_[index_of(original().operand(n, 0))] == 0
                            ? nullptr
                            : &pool_[changes_[index_of(original().operand(n, 0))] - 1];
  auto const count_of = [](change const* c) {
    return c == nullptr
               ? std::ptrdiff_t{0}
               : std::count_if(c->pieces.begin(), c->pieces.end(), [](piece const& p) { return p.is_new; });
  };
  if (add_list_to_length(n)) return;
  std::ptrdiff_t const more = count_of(first);
  std::int64_t least = 0;
  for (value_id const array : original().operands_of(n)) {
    change const* const c = change_of(array);
    if ((c != nullptr && c->whole) || count_of(c) != more) return run_again(n);
    if (c != nullptr && c->appended != layout::none)
      least = 1; // what is appended to nothing is followed as a whole
  }
  if (more == 0) return is_new_turn_ ? run_again(n) : void();
  std::vector<value_id> grown;
  for (piece const& p : first->pieces)
    if (p.is_new) grown.push_back(p.index);
  // The others have the same places, and are found by them.
  if (at_.region() == top_)
    for (value_id const array : original().operands_of(n)) {
      auto next = grown.begin();
      for (piece& p : pool_[changes_[index_of(array)] - 1].pieces)
        if (p.is_new) p.index = *next++;
    }
  value_id const now = at_.add(op::add, grown.front(), literal(ir::i64, grown.size()));
  set_whole(v, now);
  old_[index_of(v)] = grown.front(); // which is forgotten with the change
  change& c = pool_[changes_[index_of(v)] - 1];
  c.grown = std::move(grown);
  c.least = least;
  note(n, step::extent::scalar);
}

/// The same where a list of elements came; whether it did.
inline bool slice_writer::add_list_to_length(node_id n) {
  std::vector<piece*> all;
  std::int64_t least = 0;
  bool is_list = false, is_other = false;
  for (value_id const array : original().operands_of(n)) {
    change* const c = original().is_literal(array) || change_of(array) == nullptr
                          ? nullptr
                          : &pool_[changes_[index_of(array)] - 1];
    piece* came = nullptr;
    if (c != nullptr)
      for (piece& p : c->pieces)
        if (p.is_new && p.list != ir::nothing) came = &p;
    is_list = is_list || came != nullptr;
    is_other = is_other || came == nullptr || c->whole;
    all.push_back(came);
    if (c != nullptr && c->appended != layout::none)
      least = 1; // what is appended to nothing is followed as a whole
  }
  if (!is_list) return false;
  if (is_other) {
    run_again(n);
    return true;
  }
  std::vector<value_id> parts;
  for (piece const* p : all) parts.push_back(p->element);
  value_id const first = all[0]->first, list = all[0]->list;
  value_id const count = written().result(at_.insert(op::length, parts, std::array{ir::i64}));
  // The others have the same places, and are found by them.
  if (at_.region() == top_)
    for (piece* p : all) {
      p->first = first;
      p->end = all[0]->end;
      p->list = list;
    }
  value_id const v = original().result(n);
  set_whole(v, at_.add(op::add, first, count));
  old_[index_of(v)] = first; // which is forgotten with the change
  change& c = pool_[changes_[index_of(v)] - 1];
  c.came = list;
  c.first_came = first;
  c.count_came = count;
  c.least = least;
  note(n, step::extent::scalar);
  return true;
}

/// A number of turns that is more or less by a literal grows with the other.
inline void slice_writer::add_growth(node_id n) {
  op const code = original()[n].code;
  if (code != op::add && code != op::sub) return;
  value_id const a = original().operand(n, 0), b = original().operand(n, 1);
  bool const second = code == op::add && original().is_literal(a);
  value_id const of = second ? b : a, by = second ? a : b;
  if (original().is_literal(of) || !original().is_literal(by) || original().type_of(of) != ir::i64) return;
  change const* const c = change_of(of);
  if (c == nullptr || !c->has_grown()) return;
  auto const behind = static_cast<std::int64_t>(original().bits_of(by));
  if (behind < -most_distance || behind > most_distance) return;
  std::int64_t least = code == op::add ? c->least + behind : c->least - behind;
  value_id const v = original().result(n), before = c->came == ir::nothing ? c->grown.front() : c->first_came;
  value_id const first = at_.add(code, before, literal(ir::i64, static_cast<std::uint64_t>(behind)));
  if (least < 0) { // it may be that there are no turns at all
    if (!may_assume({v}) || !assume({v}, at_.add(op::ge, first, literal(ir::i64, 0)))) return;
    least = 0;
  }
  change& to = pool_[changes_[index_of(original().result(n))] - 1];
  for (value_id const index : c->grown)
    to.grown.push_back(at_.add(code, index, literal(ir::i64, static_cast<std::uint64_t>(behind))));
  to.least = least;
  if (c->came == ir::nothing) {
    old_[index_of(original().result(n))] = to.grown.front();
    return;
  }
  to.first_came = first;
  to.count_came = c->count_came;
  to.came = indices_from(to.first_came, to.count_came);
  old_[index_of(original().result(n))] = to.first_came;
}

// ---- as a whole

inline void slice_writer::run_again(node_id n, std::string_view why) {
  std::vector<value_id> const given = run_afresh(n);
  if (original()[n].code == op::reduce) store_trees(n);
  bool is_whole = original()[n].region_count != 0 || original()[n].code == op::reduce;
  for (value_id const v : original().results_of(n))
    is_whole = is_whole || (original().type_of(v).rank > 0 && original()[n].code != op::at);
  if (is_whole) note(n, step::extent::whole, why);
  bool all_stay = true;
  for (std::uint32_t i = 0; i < given.size(); ++i)
    all_stay = set_or_keep(n, original().result(n, i), given[i]) && all_stay;
  if (!is_whole && !all_stay) note(n, step::extent::scalar);
}
/// What it gives now. What is kept of its inside is stored, its results are not.
inline std::vector<value_id> slice_writer::run_afresh(node_id n) {
  for (region_id const r : original().regions_of(n)) // what is kept of it later, was to be stored here
    ir::walk(original(), r, [&](node_id m) {
      for (value_id const v : original().results_of(m)) passed_[index_of(v)] = 1;
      for (region_id const inner : original().regions_of(m))
        for (value_id const v : original().arguments_of(inner)) passed_[index_of(v)] = 1;
    });
  value_map here = values_of(n);
  std::vector<kept_value> inside;
  node_id const made = copy(n, here, inside);
  std::vector<value_id> given;
  for (std::uint32_t i = 0; i < original()[n].result_count; ++i) given.push_back(written().result(made, i));
  auto const outer = path(static_cast<std::uint32_t>(turns_.size()));
  for (kept_value const& k : inside) {
    stores_.push_back({layout_.of(k.of), outer, k.now, k.valid});
    if (std::uint32_t const rest = layout_.remainder_of(k.of); rest != layout::none)
      stores_.push_back({rest, outer, ir::nothing, k.valid});
  }
  return given;
}

/// What an operation uses, as it is now.
inline value_map slice_writer::values_of(node_id n) {
  value_map all = values_inside(n);
  for (std::uint32_t k = 0; k < original()[n].operand_count; ++k) {
    value_id const v = original().operand(n, k);
    all.insert_or_assign(v, now(v));
  }
  return all;
}
/// What its regions use of what stands around it.
inline value_map slice_writer::values_inside(node_id n) {
  value_map all;
  if (original()[n].region_count != 0)
    for (value_id const v : captured(n)) all.insert_or_assign(v, now(v));
  return all;
}

/// Copies an operation; what is kept of its inside, it gives besides: a map or a loop of its turns.
inline node_id slice_writer::copy(node_id n, value_map& here, std::vector<kept_value>& kept_inside) {
  if (!keeps_inside(n)) return at_.clone(f_, n, here);
  if (original()[n].code == op::if_) return copy_branch(n, here, kept_inside);
  region_id const outside = at_.region(), from = original().region_at(n, 0);
  std::vector<ir::type> results;
  for (value_id const v : original().results_of(n)) results.push_back(original().type_of(v));
  std::vector<value_id> operands;
  for (std::uint32_t k = 0; k < original()[n].operand_count; ++k)
    operands.push_back(now_in(here, original().operand(n, k)));
  std::vector<std::vector<ir::type>> arguments(1);
  for (value_id const v : original().arguments_of(from)) arguments[0].push_back(original().type_of(v));
  ir::attributes const attributes = original()[n].attributes;
  node_id const made =
      at_.insert(original()[n].code, operands, std::span<ir::type const>(), attributes, arguments);
  region_id const body = written().region_at(made, 0);
  at_.to_end(body);
  std::vector<kept_value> inside;
  for (std::uint32_t k = 0; k < original()[from].argument_count; ++k) {
    value_id const v = original().argument(from, k);
    here.insert_or_assign(v, written().argument(body, k));
    if (layout_.of(v) != layout::none) inside.push_back({v, written().argument(body, k)});
  }
  copy_all(from, here, inside);
  std::vector<value_id> yielded;
  for (std::uint32_t k = 0; k < original()[original()[from].last].operand_count; ++k)
    yielded.push_back(now_in(here, original().operand(original()[from].last, k)));
  for (kept_value const& k : inside) {
    yielded.push_back(k.now);
    results.push_back(type_of(k.now).array_of());
  }
  at_.yield(yielded);
  at_.to_end(outside);
  at_.set_results(made, results);
  for (std::size_t i = 0; i < inside.size(); ++i)
    kept_inside.push_back(
        {inside[i].of, written().result(made, original()[n].result_count + static_cast<std::uint32_t>(i))});
  return made;
}
/// The operations of a region, but for its end, to where operations go.
inline void slice_writer::copy_all(region_id r, value_map& here, std::vector<kept_value>& inside) {
  for (node_id m = original()[r].first; m != original()[r].last; m = original()[m].next) {
    node_id const copied = copy(m, here, inside);
    for (std::uint32_t i = 0; i < original()[m].result_count; ++i) {
      value_id const v = original().result(m, i);
      here.insert_or_assign(v, written().result(copied, i));
      if (layout_.of(v) != layout::none) inside.push_back({v, written().result(copied, i)});
    }
  }
}
inline value_id slice_writer::now_in(value_map const& here, value_id v) {
  return original().is_literal(v) ? literal(original().type_of(v), original().bits_of(v)) : here.at(v);
}

/// Whether something inside of a map, a loop or a branch is kept.
inline bool slice_writer::keeps_inside(node_id n) {
  op const code = original()[n].code;
  if (code != op::map && code != op::loop && code != op::if_) return false;
  for (std::uint32_t k = 0; k < layout_.size(); ++k)
    for (region_id const r : original().regions_of(n))
      if (layout_[k].what == variable::role::kept && is_inside(original(), layout_[k].of, r)) return true;
  return false;
}

// ---- what operations see

/// Whether what is written is a turn of a loop, of which nothing is kept but what it carries.
inline bool slice_writer::is_in_loop() const {
  return !turns_.empty() && original()[original()[turns_.back().region].parent].code == op::loop;
}

inline bool slice_writer::is_reached(node_id n) {
  if (runs_all_ || is_new_turn_) return true;
  for (value_id const v : original().operands_of(n))
    if (!original().is_literal(v) && change_of(v) != nullptr) return true;
  if (original()[n].region_count != 0)
    for (value_id const v : captured(n))
      if (change_of(v) != nullptr) return true;
  return false;
}

/// The values around an operation that its regions use, each once.
inline std::vector<value_id> const& slice_writer::captured(node_id n) {
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

} // namespace overdub::contexts::increments
