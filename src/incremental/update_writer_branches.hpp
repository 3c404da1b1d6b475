// Updates of branches: if the condition is unchanged, the taken branch is updated; if it flips, the other branch is computed in full.
#pragma once

#include <overdub/implementation/incremental/update_writer.hpp>
#include <overdub/implementation/incremental/update_writer_maps.hpp>

namespace overdub::increments {

inline void update_writer::visit_branch(node_id n) {
  function const& f = original();
  if (!is_outside_loops(f, f[n].parent) || !has_loops(original(), n))
    return recompute(n); // cheap to recompute
  value_id const condition = f.operand(n, 0);
  bool const may_flip = !f.is_literal(condition) && known_.change_of(condition) != nullptr;
  value_id const before = known_.old_value(condition), present = known_.new_value(condition);
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
      for (delta const& p : deltas) known_.store_value(v, p.element, {p.index}, p.valid);
      known_.set_change(v).deltas = std::move(deltas);
      continue;
    }
    // One branch changes elements, the other one the whole array.
    for (branch_update::one* const one : {&a, &b})
      if (one->changed && one->new_value == ir::nothing) {
        change c;
        c.deltas = std::move(one->deltas);
        one->new_value = known_.whole(known_.old_value(v), c);
      }
    value_id const yes = a.changed ? a.new_value : known_.old_value(v),
                   no = b.changed ? b.new_value : known_.old_value(v);
    value_id now = selected(before, yes, no);
    if (may_flip) now = selected(flips, fresh[k], now);
    value_id by = ir::nothing;
    if (a.difference != ir::nothing || b.difference != ir::nothing) {
      auto const of_one = [&](branch_update::one const& one) {
        if (!one.changed) return literal(ir::f64, 0);
        return one.difference != ir::nothing ? one.difference
                                             : at_.add(op::sub, one.new_value, known_.old_value(v));
      };
      // Two statements: the order of evaluation of arguments is unspecified.
      value_id const by_yes = of_one(a);
      value_id const by_no = of_one(b);
      by = selected(before, by_yes, by_no);
      if (may_flip) by = selected(flips, at_.add(op::sub, fresh[k], known_.old_value(v)), by);
    }
    guards_.set_or_guard_unchanged(n, v, now);
    if (known_.change_of(v) != nullptr) known_.change_of(v)->difference = by;
  }
  note(n, step::extent::branch);
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
      change const* const c = f.is_literal(v) ? nullptr : known_.change_of(v);
      if (c == nullptr) continue;
      one.changed = true;
      if (!as_whole && has_only_elements(*c, own)) {
        one.deltas = c->deltas;
        for (delta& p : one.deltas) {
          if (is_summed(original(), result) && p.difference == ir::nothing && p.valid == ir::nothing)
            p.difference = at_.add(op::sub, p.element, at(known_.old_value(v), p.index));
          yield_value(p.element), yield_value(p.difference), yield_value(p.valid);
        }
        continue;
      }
      one.new_value = known_.new_value(v);
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
  return emit_if(flips, [&] { return copies_.emit(n); });
}

/// Whether a change in a region consists of single elements, whose indices are defined outside of the region.
inline bool update_writer::has_only_elements(change const& c, region_id inside) const {
  return !c.whole && std::all_of(c.deltas.begin(), c.deltas.end(), [&](delta const& p) {
    return !p.is_appended && p.list == ir::nothing && p.nested == nullptr && p.element != ir::nothing &&
           !ir::is_defined_in(written(), p.index, inside);
  });
}

} // namespace overdub::increments
