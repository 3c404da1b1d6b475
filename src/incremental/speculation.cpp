#include <overdub/implementation/incremental/changed_lists.hpp>
#include <overdub/implementation/incremental/speculation.hpp>
#include <overdub/implementation/incremental/value_changes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::increments {

/// Code that is emitted from now on runs only where all guards hold.
void speculation::begin(disabled_guards const& d) {
  disabled_guards_ = d;
  entry_guard_ = code_.build().open(op::if_, {code_.literal(ir::boolean, 1)}, 2);
  outermost_region_ = code_.written().region_at(entry_guard_, 0);
  code_.cursor.to_end(outermost_region_);
}

/// Emits a guard: code that is emitted next runs only where the condition holds. Returns false where no guard can be emitted: in
/// iterations and branches, unless the condition can be hoisted.
bool speculation::speculate_on(guard const& a, value_id holds) {
  if (value_id const at_once = hoisted_condition(holds); at_once != ir::nothing) {
    guards_.push_back({a, at_once});
    return true;
  }
  if (!is_outermost()) return false;
  node_id const choice = code_.build().open(op::if_, {holds}, 2);
  guards_.push_back({a, holds, choice});
  outermost_region_ = code_.written().region_at(choice, 0);
  code_.cursor.to_end(outermost_region_);
  return true;
}

/// The condition, computed before all other code. Nothing, where it depends on more than indices and lengths.
value_id speculation::hoisted_condition(value_id v) {
  std::vector<node_id> moved;
  if (!can_be_hoisted(v, moved)) return ir::nothing;
  region_id const here = code_.cursor.region();
  code_.cursor.to_before(entry_guard_);
  for (node_id const n : moved) (void)code_.cursor.clone(code_.draft, n, hoisted_);
  code_.cursor.to_end(here);
  auto const found = hoisted_.find(v);
  return found == hoisted_.end() ? v : found->second;
}

/// Collects the operations to be hoisted, operands first.
bool speculation::can_be_hoisted(value_id v, std::vector<node_id>& moved) const {
  if (code_.written().is_literal(v) || code_.written().region_of(v) == function::body || hoisted_.contains(v))
    return true;
  if (!code_.written().is_result(v)) return false;
  node_id const n = code_.written().node_of(v);
  if (std::find(moved.begin(), moved.end(), n) != moved.end()) return true;
  op const code = code_.written()[n].code;
  bool const is_plain = ir::is_elementwise(code) && code != op::div && code != op::rem;
  if ((!is_plain && code != op::length) || moved.size() >= maximum_hoisted) return false;
  for (value_id const of : code_.written().operands_of(n))
    if ((is_plain && code_.type_of(of) != ir::i64 && code_.type_of(of) != ir::boolean) ||
        !can_be_hoisted(of, moved))
      return false;
  moved.push_back(n);
  return true;
}

/// The condition that the element which an operation reads is one that changed. The indices before the operand `axis` are equal; `end`
/// is the number of operands.
speculation::overlap
speculation::overlap_of(node_id n, std::uint32_t axis, std::uint32_t end, change const& c, value_id where) {
  overlap all;
  value_id const index = known_.new_value(code_.original().operand(n, axis));
  for (delta const& p : c.deltas) {
    if (p.is_appended || (p.list == ir::nothing && code_.are_distinct(p.index, index))) continue;
    value_id const here =
        p.list != ir::nothing ? find_in(code_, p, index).is_there : code_.equals(p.index, index);
    value_id const is_there = code_.both(code_.both(where, p.valid), here);
    overlap one{is_there == ir::nothing, is_there};
    if (p.nested != nullptr && axis + 1 < end) one = overlap_of(n, axis + 1, end, *p.nested, is_there);
    if (one.is_certain) return one;
    if (one.condition != ir::nothing)
      all.condition = all.condition == ir::nothing ? one.condition
                                                   : code_.add(op::logical_or, all.condition, one.condition);
  }
  return all;
}

/// Whether the element that is read is certainly not one that changed.
bool speculation::is_apart(node_id n, change const& c) const {
  value_id const index = known_.new_value(code_.original().operand(n, 1));
  return std::all_of(c.deltas.begin(), c.deltas.end(), [&](delta const& p) {
    return p.is_appended || (p.list == ir::nothing && code_.are_distinct(p.index, index));
  });
}

/// Whether the element that is read is not one that changed, or is guarded not to be.
bool speculation::speculates_apart(node_id n, change const& c, std::uint32_t end) {
  if (is_apart(n, c)) return true;
  guard const apart{code_.original().result(n)};
  if (!may_speculate_apart(n, c)) return false;
  overlap const m = overlap_of(n, 1, end, c, ir::nothing);
  if (m.is_certain || m.condition == ir::nothing) return !m.is_certain;
  if (!speculate_on(apart, code_.add(op::logical_not, m.condition))) return false;
  code_.note(n, step::extent::unchanged);
  return true;
}

/// Closes the branches of all guards. The results are the same, followed by the mask of guards that failed.
void speculation::end(std::vector<value_id> const& results) {
  std::vector<value_id> yielded = results;
  if (!guards_.empty()) yielded.push_back(code_.literal(ir::i64, 0));
  code_.cursor.yield(yielded);
  if (entry_guard_ == ir::nothing) return;
  auto const otherwise = [&](node_id choice, auto const& failed) {
    code_.build().in_region(choice, 1, [&] {
      values none;
      for (value_id const v : results) none.push_back(ir::zero_value(code_.cursor, code_.type_of(v)));
      none.push_back(failed());
      return none;
    });
    code_.cursor.to_after(choice);
    yielded = code_.build().close(choice).results;
    code_.cursor.yield(yielded);
  };
  auto const bit = [&](std::size_t k) { return code_.literal(ir::i64, std::uint64_t{1} << k); };
  for (std::size_t k = guards_.size(); k-- > 0;)
    if (guards_[k].branch != ir::nothing) otherwise(guards_[k].branch, [&] { return bit(k); });
  value_id all = ir::nothing;
  code_.cursor.to_before(entry_guard_);
  for (emitted_guard const& g : guards_)
    if (g.branch == ir::nothing) all = code_.both(all, g.condition);
  if (all == ir::nothing) return;
  code_.cursor.set_operand(entry_guard_, 0, all);
  otherwise(entry_guard_, [&] {
    value_id failed = code_.literal(ir::i64, 0);
    for (std::size_t k = 0; k < guards_.size(); ++k)
      if (guards_[k].branch == ir::nothing)
        failed = code_.add(
            op::bit_or, failed,
            code_.add(op::select, guards_[k].condition, code_.literal(ir::i64, 0), bit(k)));
    return failed;
  });
}

/// Whether recomputing an operation often returns the old value: comparisons, selections, rounding, final values of loops.
bool speculation::may_be_unchanged(node_id n) const {
  auto const is_whole = [&](value_id v) {
    return code_.original().type_of(v) == ir::boolean || !code_.original().type_of(v).is_floating();
  };
  op const code = code_.original()[n].code;
  ir::op_row const& row = ir::row_of(code);
  if (selects_region(code) || carries_values(code) || row.has(ir::op_traits::rounds)) return true;
  if (row.types == ir::type_rule::comparison || row.types == ir::type_rule::test) return true;
  switch (code) {
  case op::logical_and:
  case op::logical_or:
  case op::select:
  case op::min:
  case op::max:
  case op::clamp:
  case op::fmin:
  case op::fmax:
  case op::fdim:
  case op::bit_and:
  case op::bit_or:
  case op::shift_right:
  case op::rem:
    return true;
  case op::div:
    return is_whole(code_.original().result(n));
  case op::convert:
    return is_whole(code_.original().result(n)) && !is_whole(code_.original().operand(n, 0));
  case op::reduce:
    return code_.original()[n].attributes.operation != op::add;
  default:
    return false;
  }
}

/// Whether maps, loops or arrays depend on a number, directly or indirectly. O(values), once.
bool speculation::has_costly_uses(value_id v) {
  if (!costly_.empty()) return costly_[index_of(v)] != 0;
  function const& f = code_.original();
  costly_.assign(f.value_count(), 0);
  std::vector<node_id> all;
  for (node_id const n : f.nodes_of(function::body)) all.push_back(n);
  for (auto n = all.rbegin(); n != all.rend(); ++n) {
    op const code = f[*n].code;
    bool costs = repeats_regions(code) || (selects_region(code) && has_loops(code_.original(), *n));
    for (value_id const r : f.results_of(*n))
      costs = costs || f.type_of(r).rank > 0 || costly_[index_of(r)] != 0;
    if (!costs) continue;
    auto const mark = [&](value_id of) {
      if (!f.is_literal(of)) costly_[index_of(of)] = 1;
    };
    for (value_id const of : f.operands_of(*n)) mark(of);
    if (f[*n].region_count != 0)
      for (value_id const of : known_.captured(*n)) mark(of);
  }
  return costly_[index_of(v)] != 0;
}

/// Sets the new value of a number; or guards that it is unchanged, where that saves work. Returns whether it is guarded.
bool speculation::set_or_guard_unchanged(node_id n, value_id v, value_id now) {
  ir::type const t = code_.original().type_of(v);
  bool const is_number = t.rank == 0 && t.is_literal() && code_.original()[n].parent == function::body;
  if (!is_number || !is_outermost() || code_.is_new_iteration || !may_speculate_on({v}) ||
      !may_be_unchanged(n) || !has_costly_uses(v)) {
    known_.set_whole(v, now);
    return false;
  }
  code_.note(n, step::extent::unchanged);
  return speculate_on({v}, code_.add(op::logical_not, code_.differs(now, known_.old_value(v))));
}

} // namespace overdub::increments
