// Branches: where the condition is what it was, a branch is followed as what stands around it; where it flips, the other one runs afresh.
#pragma once

#include <overdub/contexts/incremental/slice_writer_shapes.hpp>

namespace overdub::contexts::increments {

inline void slice_writer::visit_branch(node_id n) {
  function const& f = original();
  if (!is_at_top(f[n].parent) || !has_turns(n)) return run_again(n); // it is cheap
  value_id const condition = f.operand(n, 0);
  bool const may_flip = !f.is_literal(condition) && change_of(condition) != nullptr;
  value_id const before = old(condition), present = now(condition);
  value_id taken[2] = {before, at_.add(op::logical_not, before)}, flips = ir::nothing;
  if (may_flip) {
    taken[0] = at_.add(op::logical_and, before, present);
    taken[1] = at_.add(op::logical_not, at_.add(op::logical_or, before, present));
    flips = at_.add(op::logical_not, at_.add(op::logical_or, taken[0], taken[1]));
  }
  of_branch of[2] = {follow_branch(n, 0, taken[0], may_flip), follow_branch(n, 1, taken[1], may_flip)};
  std::vector<value_id> fresh(f[n].result_count, ir::nothing);
  if (may_flip) fresh = run_flipped(n, flips);

  for (std::uint32_t k = 0; k < f[n].result_count; ++k) {
    of_branch::one &a = of[0].results[k], &b = of[1].results[k];
    if (!may_flip && !a.changed && !b.changed) continue;
    value_id const v = f.result(n, k);
    if (a.now == ir::nothing && b.now == ir::nothing && !may_flip) { // elements alone
      std::vector<piece> pieces = a.pieces;
      pieces.insert(pieces.end(), b.pieces.begin(), b.pieces.end());
      for (piece const& p : pieces) store_value(v, p.element, {p.index}, p.valid);
      set_change(v).pieces = std::move(pieces);
      continue;
    }
    for (of_branch::one* const one : {&a, &b}) // elements, where the other branch gives all
      if (one->changed && one->now == ir::nothing) {
        change c;
        c.pieces = std::move(one->pieces);
        one->now = whole(old(v), c);
      }
    value_id const yes = a.changed ? a.now : old(v), no = b.changed ? b.now : old(v);
    value_id now = chosen(before, yes, no);
    if (may_flip) now = chosen(flips, fresh[k], now);
    value_id by = ir::nothing;
    if (a.by != ir::nothing || b.by != ir::nothing) {
      auto const of_one = [&](of_branch::one const& one) {
        if (!one.changed) return literal(ir::f64, 0);
        return one.by != ir::nothing ? one.by : at_.add(op::sub, one.now, old(v));
      };
      value_id const by_yes = of_one(a), by_no = of_one(b); // one after the other, whatever the compiler
      by = chosen(before, by_yes, by_no);
      if (may_flip) by = chosen(flips, at_.add(op::sub, fresh[k], old(v)), by);
    }
    set_or_keep(n, v, now);
    if (change_of(v) != nullptr) pool_[changes_[index_of(v)] - 1].by = by;
  }
  note(n, step::extent::branch);
}

/// Whether there is something to be followed in an operation.
inline bool slice_writer::has_turns(node_id n) const {
  bool found = false;
  for (region_id const r : original().regions_of(n))
    ir::walk(original(), r, [&](node_id m) {
      op const code = original()[m].code;
      found = found || code == op::map || code == op::loop || code == op::reduce || code == op::while_;
    });
  return found;
}

/// Whether a change in a region is of single elements, at indices that are known outside.
inline bool slice_writer::is_plain(change const& c, region_id inside) const {
  return !c.whole && std::all_of(c.pieces.begin(), c.pieces.end(), [&](piece const& p) {
    return !p.is_new && p.list == ir::nothing && p.part == nullptr && p.element != ir::nothing &&
           !is_inside(written(), p.index, inside);
  });
}

/// What changes in a branch, where it is taken and was before.
inline slice_writer::of_branch
slice_writer::follow_branch(node_id n, std::uint32_t i, value_id taken, bool as_whole) {
  function const& f = original();
  region_id const body = f.region_at(n, i), outside = at_.region();
  std::size_t const from = mark(), first_store = stores_.size();
  std::vector<ir::type> const no_arguments[2];
  node_id const choice =
      at_.insert(op::if_, std::array{taken}, std::span<ir::type const>(), {}, no_arguments);
  at_.to_end(written().region_at(choice, 0));
  visit(body);

  of_branch all;
  std::vector<value_id> inside;
  auto const give = [&](value_id& v) { // to be taken again behind the choice, in this order
    if (v != ir::nothing) inside.push_back(v);
  };
  node_id const last = f[body].last;
  for (std::uint32_t k = 0; k < f[n].result_count; ++k) {
    of_branch::one& one = all.results.emplace_back();
    value_id const v = f.operand(last, k), result = f.result(n, k);
    change const* const c = f.is_literal(v) ? nullptr : change_of(v);
    if (c == nullptr) continue;
    one.changed = true;
    if (!as_whole && is_plain(*c, written().region_at(choice, 0))) {
      one.pieces = c->pieces;
      for (piece& p : one.pieces) {
        if (is_summed(result) && p.difference == ir::nothing && p.valid == ir::nothing)
          p.difference = at_.add(op::sub, p.element, at(old(v), p.index));
        give(p.element), give(p.difference), give(p.valid);
      }
      continue;
    }
    one.now = now(v);
    give(one.now);
    if (f.type_of(v) == ir::f64 && c->by != ir::nothing) {
      one.by = c->by;
      give(one.by);
    }
  }
  return_to(from);
  inside = leave_choice(choice, inside, first_store, taken);
  at_.to_end(outside);
  std::size_t next = 0;
  auto const take = [&](value_id& v) {
    if (v != ir::nothing) v = inside[next++];
  };
  for (of_branch::one& one : all.results) {
    for (piece& p : one.pieces) {
      take(p.element), take(p.difference), take(p.valid);
      p.valid = both(taken, p.valid);
    }
    take(one.now), take(one.by);
  }
  return all;
}

/// All of it, where the condition is another one.
inline std::vector<value_id> slice_writer::run_flipped(node_id n, value_id flips) {
  std::size_t const from = mark(), first_store = stores_.size();
  region_id const outside = at_.region();
  std::vector<ir::type> const no_arguments[2];
  node_id const choice =
      at_.insert(op::if_, std::array{flips}, std::span<ir::type const>(), {}, no_arguments);
  at_.to_end(written().region_at(choice, 0));
  std::vector<value_id> given = run_afresh(n);
  return_to(from);
  given = leave_choice(choice, given, first_store, flips);
  at_.to_end(outside);
  return given;
}

/// Of two values of one type.
inline value_id slice_writer::chosen(value_id condition, value_id yes, value_id no) {
  if (yes == no) return yes;
  ir::type const t = type_of(yes);
  if (t.rank == 0) return at_.add(op::select, condition, yes, no);
  region_id const outside = at_.region();
  std::vector<ir::type> const no_arguments[2];
  node_id const choice = at_.insert(op::if_, std::array{condition}, std::array{t}, {}, no_arguments);
  at_.to_end(written().region_at(choice, 0));
  at_.yield(std::array{yes});
  at_.to_end(written().region_at(choice, 1));
  at_.yield(std::array{no});
  at_.to_end(outside);
  return written().result(choice);
}

/// Copies a branch; what is kept of one side is there where that one is taken.
inline node_id slice_writer::copy_branch(node_id n, value_map& here, std::vector<kept_value>& kept_inside) {
  function const& f = original();
  region_id const outside = at_.region();
  value_id const condition = now_in(here, f.operand(n, 0));
  ir::attributes const attributes = f[n].attributes;
  std::vector<ir::type> const no_arguments[2];
  node_id const made =
      at_.insert(op::if_, std::array{condition}, std::span<ir::type const>(), attributes, no_arguments);
  std::vector<kept_value> inside[2];
  std::vector<value_id> yielded[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    region_id const from = original().region_at(n, i);
    at_.to_end(written().region_at(made, i));
    copy_all(from, here, inside[i]);
    for (std::uint32_t k = 0; k < original()[n].result_count; ++k)
      yielded[i].push_back(now_in(here, original().operand(original()[from].last, k)));
  }
  std::vector<ir::type> types;
  for (value_id const v : original().results_of(n)) types.push_back(original().type_of(v));
  for (std::uint32_t i = 0; i < 2; ++i) // of each side, there and in the other one
    for (kept_value& k : inside[i]) {
      auto const give = [&](value_id v) {
        types.push_back(type_of(v));
        yielded[i].push_back(v);
        at_.to_end(written().region_at(made, 1 - i));
        yielded[1 - i].push_back(nothing_of(type_of(v)));
      };
      give(k.now);
      if (k.valid != ir::nothing) give(k.valid);
    }
  for (std::uint32_t i = 0; i < 2; ++i) {
    at_.to_end(written().region_at(made, i));
    at_.yield(yielded[i]);
  }
  at_.to_end(outside);
  at_.set_results(made, types);
  std::uint32_t next = original()[n].result_count;
  for (std::uint32_t i = 0; i < 2; ++i) {
    value_id const taken = inside[i].empty() || i == 0 ? condition : at_.add(op::logical_not, condition);
    for (kept_value& k : inside[i]) {
      value_id const now = written().result(made, next++);
      value_id const valid = k.valid == ir::nothing ? taken : written().result(made, next++);
      kept_inside.push_back({k.of, now, valid});
    }
  }
  return made;
}

} // namespace overdub::contexts::increments
