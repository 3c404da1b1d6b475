// Updates of branches: if the condition is unchanged, the taken branch is updated; if it flips, the other branch is computed in full.
#pragma once

#include <overdub/incremental/update_writer_iterations.hpp>

namespace overdub::increments {

inline void update_writer::visit_branch(node_id n) {
  function const& f = original();
  if (!is_outside_loops(f, f[n].parent) || !has_loops(n)) return recompute(n); // cheap to recompute
  value_id const condition = f.operand(n, 0);
  bool const may_flip = !f.is_literal(condition) && change_of(condition) != nullptr;
  value_id const before = old_value(condition), present = new_value(condition);
  value_id taken[2] = {before, at_.add(op::logical_not, before)}, flips = ir::nothing;
  if (may_flip) {
    taken[0] = at_.add(op::logical_and, before, present);
    taken[1] = at_.add(op::logical_not, at_.add(op::logical_or, before, present));
    flips = at_.add(op::logical_not, at_.add(op::logical_or, taken[0], taken[1]));
  }
  branch_update of[2] = {update_branch(n, 0, taken[0], may_flip), update_branch(n, 1, taken[1], may_flip)};
  std::vector<value_id> fresh(f[n].result_count, ir::nothing);
  if (may_flip) fresh = emit_flipped(n, flips);

  for (std::uint32_t k = 0; k < f[n].result_count; ++k) {
    branch_update::one &a = of[0].results[k], &b = of[1].results[k];
    if (!may_flip && !a.changed && !b.changed) continue;
    value_id const v = f.result(n, k);
    if (a.new_value == ir::nothing && b.new_value == ir::nothing && !may_flip) { // only elements
      std::vector<delta> deltas = a.deltas;
      deltas.insert(deltas.end(), b.deltas.begin(), b.deltas.end());
      for (delta const& p : deltas) store_value(v, p.element, {p.index}, p.valid);
      set_change(v).deltas = std::move(deltas);
      continue;
    }
    // One branch changes elements, the other one the whole array.
    for (branch_update::one* const one : {&a, &b})
      if (one->changed && one->new_value == ir::nothing) {
        change c;
        c.deltas = std::move(one->deltas);
        one->new_value = whole(old_value(v), c);
      }
    value_id const yes = a.changed ? a.new_value : old_value(v), no = b.changed ? b.new_value : old_value(v);
    value_id now = selected(before, yes, no);
    if (may_flip) now = selected(flips, fresh[k], now);
    value_id by = ir::nothing;
    if (a.difference != ir::nothing || b.difference != ir::nothing) {
      auto const of_one = [&](branch_update::one const& one) {
        if (!one.changed) return literal(ir::f64, 0);
        return one.difference != ir::nothing ? one.difference : at_.add(op::sub, one.new_value, old_value(v));
      };
      // Two statements: the order of evaluation of arguments is unspecified.
      value_id const by_yes = of_one(a);
      value_id const by_no = of_one(b);
      by = selected(before, by_yes, by_no);
      if (may_flip) by = selected(flips, at_.add(op::sub, fresh[k], old_value(v)), by);
    }
    set_or_guard_unchanged(n, v, now);
    if (change_of(v) != nullptr) pool_[changes_[index_of(v)] - 1].difference = by;
  }
  note(n, step::extent::branch);
}

/// Whether an operation has regions that may be updated incrementally.
inline bool update_writer::has_loops(node_id n) const {
  bool found = false;
  for (region_id const r : original().regions_of(n))
    ir::walk(original(), r, [&](node_id m) { found = found || repeats_regions(original()[m].code); });
  return found;
}

/// Whether a change in a region consists of single elements, whose indices are defined outside of the region.
inline bool update_writer::has_only_elements(change const& c, region_id inside) const {
  return !c.whole && std::all_of(c.deltas.begin(), c.deltas.end(), [&](delta const& p) {
    return !p.is_appended && p.list == ir::nothing && p.nested == nullptr && p.element != ir::nothing &&
           !is_inside(written(), p.index, inside);
  });
}

/// Emits the update of a branch that is taken both before and after the update.
inline update_writer::branch_update
update_writer::update_branch(node_id n, std::uint32_t i, value_id taken, bool as_whole) {
  function const& f = original();
  branch_update all;
  values inside = emit_if(taken, [&] {
    region_id const own = at_.region(), body = f.region_at(n, i);
    visit(body);
    values yielded;
    auto const yield_value = [&](value_id v) { // collected after the branch, in this order
      if (v != ir::nothing) yielded.push_back(v);
    };
    for (std::uint32_t k = 0; k < f[n].result_count; ++k) {
      branch_update::one& one = all.results.emplace_back();
      value_id const v = f.operand(f.yield_of(body), k), result = f.result(n, k);
      change const* const c = f.is_literal(v) ? nullptr : change_of(v);
      if (c == nullptr) continue;
      one.changed = true;
      if (!as_whole && has_only_elements(*c, own)) {
        one.deltas = c->deltas;
        for (delta& p : one.deltas) {
          if (is_summed(result) && p.difference == ir::nothing && p.valid == ir::nothing)
            p.difference = at_.add(op::sub, p.element, at(old_value(v), p.index));
          yield_value(p.element), yield_value(p.difference), yield_value(p.valid);
        }
        continue;
      }
      one.new_value = new_value(v);
      yield_value(one.new_value);
      if (f.type_of(v) == ir::f64 && c->difference != ir::nothing) {
        one.difference = c->difference;
        yield_value(one.difference);
      }
    }
    return yielded;
  });
  std::size_t next = 0;
  auto const collect = [&](value_id& v) {
    if (v != ir::nothing) v = inside[next++];
  };
  for (branch_update::one& one : all.results) {
    for (delta& p : one.deltas) {
      collect(p.element), collect(p.difference), collect(p.valid);
      p.valid = both(taken, p.valid);
    }
    collect(one.new_value), collect(one.difference);
  }
  return all;
}

/// Computes the other branch in full if the condition flips.
inline std::vector<value_id> update_writer::emit_flipped(node_id n, value_id flips) {
  return emit_if(flips, [&] { return emit_recomputation(n); });
}

inline value_id update_writer::selected(value_id condition, value_id yes, value_id no) {
  if (yes == no) return yes;
  if (type_of(yes).rank == 0) return at_.add(op::select, condition, yes, no);
  return build().if_(condition, {yes}, {no});
}

/// Copies a branch. The saved values of a side exist only if it is taken.
inline node_id
update_writer::copy_branch(node_id n, value_map& here, std::vector<saved_value>& saved_inside) {
  value_id const condition = mapped(here, original().operand(n, 0));
  ir::builder to = build();
  node_id const made = to.open_like(original(), n, {condition});
  region_id const outside = at_.region();
  std::vector<saved_value> inside[2];
  values yielded[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    region_id const from = original().region_at(n, i);
    at_.to_end(written().region_at(made, i));
    copy_region(from, here, inside[i]);
    for (value_id const v : original().operands_of(original().yield_of(from)))
      yielded[i].push_back(mapped(here, v));
  }
  for (std::uint32_t i = 0; i < 2; ++i) // each side yields zeros for the saved values of the other one
    for (saved_value& k : inside[i]) {
      auto const yield_value = [&](value_id v) {
        yielded[i].push_back(v);
        at_.to_end(written().region_at(made, 1 - i));
        yielded[1 - i].push_back(zero_of(type_of(v)));
      };
      yield_value(k.new_value);
      if (k.valid != ir::nothing) yield_value(k.valid);
    }
  at_.to_end(outside);
  for (std::uint32_t i = 0; i < 2; ++i) to.in_region(made, i, [&] { return yielded[i]; });
  to.close(made);
  std::uint32_t next = original()[n].result_count;
  for (std::uint32_t i = 0; i < 2; ++i) {
    value_id const taken = inside[i].empty() || i == 0 ? condition : at_.add(op::logical_not, condition);
    for (saved_value& k : inside[i]) {
      value_id const now = written().result(made, next++);
      value_id const valid = k.valid == ir::nothing ? taken : written().result(made, next++);
      saved_inside.push_back({k.of, now, valid});
    }
  }
  return made;
}

} // namespace overdub::increments
