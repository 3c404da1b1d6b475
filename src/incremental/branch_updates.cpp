#include <overdub/implementation/incremental/branch_updates.hpp>
#include <overdub/implementation/incremental/map_updates.hpp>
#include <overdub/implementation/incremental/recomputation.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::increments {

void visit_branch(update_writer& w, node_id n) {
  function const& f = w.original();
  if (!is_outside_loops(f, f[n].parent) || !has_loops(w.original(), n))
    return recompute(w, n); // cheap to recompute
  value_id const condition = f.operand(n, 0);
  bool const may_flip = !f.is_literal(condition) && w.known.change_of(condition) != nullptr;
  value_id const before = w.known.old_value(condition), present = w.known.new_value(condition);
  value_id taken[2] = {before, w.code.add(op::logical_not, before)}, flips = ir::nothing;
  if (may_flip) {
    taken[0] = w.code.add(op::logical_and, before, present);
    taken[1] = w.code.add(op::logical_not, w.code.add(op::logical_or, before, present));
    flips = w.code.add(op::logical_not, w.code.add(op::logical_or, taken[0], taken[1]));
  }
  branch_update of[2] = {
      update_branch(w, n, 0, taken[0], may_flip), update_branch(w, n, 1, taken[1], may_flip)};
  std::vector<value_id> fresh(f[n].result_count, ir::nothing);
  if (may_flip) fresh = emit_flipped(w, n, flips);

  for (std::uint32_t k = 0; k < f[n].result_count; ++k) {
    branch_update::one &a = of[0].results[k], &b = of[1].results[k];
    if (!may_flip && !a.changed && !b.changed) continue;
    value_id const v = f.result(n, k);
    if (a.new_value == ir::nothing && b.new_value == ir::nothing && !may_flip) { // only elements
      std::vector<delta> deltas = a.deltas;
      deltas.insert(deltas.end(), b.deltas.begin(), b.deltas.end());
      for (delta const& p : deltas)
        w.code.record({.of = v, .value = p.element, .path = {p.index}, .valid = p.valid});
      w.known.set_change(v).deltas = std::move(deltas);
      continue;
    }
    // One branch changes elements, the other one the whole array.
    for (branch_update::one* const one : {&a, &b})
      if (one->changed && one->new_value == ir::nothing) {
        change c;
        c.deltas = std::move(one->deltas);
        one->new_value = w.known.whole(w.known.old_value(v), c);
      }
    value_id const yes = a.changed ? a.new_value : w.known.old_value(v),
                   no = b.changed ? b.new_value : w.known.old_value(v);
    value_id now = w.code.selected(before, yes, no);
    if (may_flip) now = w.code.selected(flips, fresh[k], now);
    value_id by = ir::nothing;
    if (a.difference != ir::nothing || b.difference != ir::nothing) {
      auto const of_one = [&](branch_update::one const& one) {
        if (!one.changed) return w.code.literal(ir::f64, 0);
        return one.difference != ir::nothing ? one.difference
                                             : w.code.add(op::sub, one.new_value, w.known.old_value(v));
      };
      // Two statements: the order of evaluation of arguments is unspecified.
      value_id const by_yes = of_one(a);
      value_id const by_no = of_one(b);
      by = w.code.selected(before, by_yes, by_no);
      if (may_flip) by = w.code.selected(flips, w.code.add(op::sub, fresh[k], w.known.old_value(v)), by);
    }
    w.guards.set_or_guard_unchanged(n, v, now);
    if (w.known.change_of(v) != nullptr) w.known.change_of(v)->difference = by;
  }
  w.code.note(n, step::extent::branch);
}

/// Emits the update of a branch that is taken both before and after the update.
branch_update update_branch(update_writer& w, node_id n, std::uint32_t i, value_id taken, bool as_whole) {
  function const& f = w.original();
  branch_update all;
  values inside = emit_if(w, taken, [&] {
    region_id const own = w.code.cursor.region(), body = f.region_at(n, i);
    visit(w, body);
    values yielded;
    auto const yield_value = [&](value_id v) { // collected after the branch, in this order
      if (v != ir::nothing) yielded.push_back(v);
    };
    for (std::uint32_t k = 0; k < f[n].result_count; ++k) {
      branch_update::one& one = all.results.emplace_back();
      value_id const v = f.operand(f.yield_of(body), k), result = f.result(n, k);
      change const* const c = f.is_literal(v) ? nullptr : w.known.change_of(v);
      if (c == nullptr) continue;
      one.changed = true;
      if (!as_whole && has_only_elements(w, *c, own)) {
        one.deltas = c->deltas;
        for (delta& p : one.deltas) {
          if (is_summed(w.original(), result) && p.difference == ir::nothing && p.valid == ir::nothing)
            p.difference = w.code.add(op::sub, p.element, w.code.at(w.known.old_value(v), p.index));
          yield_value(p.element), yield_value(p.difference), yield_value(p.valid);
        }
        continue;
      }
      one.new_value = w.known.new_value(v);
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
      p.valid = w.code.both(taken, p.valid);
    }
    collect(one.new_value), collect(one.difference);
  }
  return all;
}

/// Whether a change in a region consists of single elements, whose indices are defined outside of the region.
bool has_only_elements(update_writer const& w, change const& c, region_id inside) {
  return !c.whole && std::all_of(c.deltas.begin(), c.deltas.end(), [&](delta const& p) {
    return !p.is_appended && p.list == ir::nothing && p.nested == nullptr && p.element != ir::nothing &&
           !ir::is_defined_in(w.written(), p.index, inside);
  });
}

} // namespace overdub::increments
