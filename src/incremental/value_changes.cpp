#include <overdub/implementation/incremental/update_code.hpp>
#include <overdub/implementation/incremental/value_changes.hpp>
#include <overdub/implementation/ir/captures.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace overdub::increments {

change& value_changes::set_change(value_id v) {
  std::uint32_t const i = index_of(v);
  note_for_undo(v);
  pool_.emplace_back();
  changes_[i] = static_cast<std::uint32_t>(pool_.size());
  new_[i] = ir::nothing;
  return pool_.back();
}

void value_changes::set_whole(value_id v, value_id now) {
  change& c = set_change(v);
  c.whole = true;
  c.new_value = now;
  code_.record({.of = v, .value = now});
}

void value_changes::restore(std::size_t checkpoint) {
  for (; undo_.size() > checkpoint; undo_.pop_back()) {
    undo const& u = undo_.back();
    std::uint32_t const i = index_of(u.value);
    changes_[i] = u.change;
    old_[i] = u.old_value;
    new_[i] = u.new_value;
  }
}

/// The value before the update. In iterations, values that are cheap to compute are rematerialised; all others are saved.
value_id value_changes::old_value(value_id v) {
  function const& f = code_.original();
  if (f.is_literal(v)) return code_.literal(f.type_of(v), f.bits_of(v));
  std::uint32_t const i = index_of(v);
  if (old_[i] != ir::nothing) return old_[i];
  value_id found;
  if (f.is_result(v) && is_rematerialised(f.node_of(v))) {
    // `old_value` may add operations: nothing of the function may be referred to across these calls.
    node_id const n = f.node_of(v);
    value_map before;
    for (std::uint32_t k = 0; k < code_.original()[n].operand_count; ++k)
      before.insert_or_assign(code_.original().operand(n, k), old_value(code_.original().operand(n, k)));
    if (code_.original()[n].region_count != 0)
      for (value_id const u : captured(n)) before.insert_or_assign(u, old_value(u));
    node_id const made = code_.cursor.clone(code_.source, n, before);
    erase_hooks(made);
    found = code_.written().result(made, code_.original()[v].index);
  } else {
    std::uint32_t const number = code_.saved.value(v);
    auto const at = code_.path(code_.saved[number].depth);
    found = is_floating_sum(f, v) ? code_.read_sum(v, at) : code_.read(number, at);
  }
  note_for_undo(v);
  old_[i] = found;
  return found;
}

/// Rematerialised code calls no hooks.
void value_changes::erase_hooks(node_id made) {
  std::vector<node_id> hooks;
  for (region_id const r : code_.written().regions_of(made))
    ir::walk(code_.written(), r, [&](node_id n) {
      if (ir::is_observer(code_.written(), n)) hooks.push_back(n);
    });
  for (node_id const n : hooks) code_.cursor.erase(n);
}

/// The value after the update.
value_id value_changes::new_value(value_id v) {
  change const* const c = change_of(v);
  if (c == nullptr) return old_value(v);
  if (c->whole) return c->new_value;
  std::uint32_t const i = index_of(v);
  if (new_[i] != ir::nothing) return new_[i];
  std::uint32_t const input = c->appended_input != layout::none ? c->appended_input : c->listed_input;
  value_id made;
  if (input != layout::none) {
    made = code_.parameter_for(
        {.what = update_parameter::kind::input, .variable = input}, code_.original().type_of(v));
  } else {
    region_id const here = code_.cursor.region();
    if (node_id const repeated = repeating_operation(v); repeated != ir::nothing)
      code_.cursor.to_before(repeated);
    made = whole(old_value(v), *c);
    code_.cursor.to_end(here);
  }
  note_for_undo(v);
  new_[i] = made;
  return made;
}

/// The outermost emitted map or loop that would repeat the code for a value, which does not depend on its iterations; nothing, where
/// there is none.
node_id value_changes::repeating_operation(value_id v) const {
  function const& f = code_.original();
  if (!is_outside_loops(f, f.region_of(v)) || (f.is_result(v) && is_rematerialised(f.node_of(v))))
    return ir::nothing;
  for (iteration const& t : code_.iterations)
    if (t.repeated_by != ir::nothing) return t.repeated_by;
  return ir::nothing;
}

value_id value_changes::replaced(value_id array, delta const& p) {
  ir::type const results[] = {code_.type_of(array)};
  if (p.is_appended && p.list != ir::nothing) return code_.add(op::concat, array, p.element);
  if (p.is_appended) {
    value_id const last[] = {p.element};
    ir::type const row = code_.type_of(array).element_type();
    value_id const last_row = row.rank == 0
                                  ? code_.written().result(code_.cursor.insert(op::array, last, results))
                                  : code_.written().result(code_.cursor.insert(
                                        op::fill, std::array{code_.literal(ir::i64, 1), p.element}, results));
    return code_.add(op::concat, array, last_row);
  }
  if (p.list != ir::nothing)
    return code_.build().loop(code_.add(op::length, p.list), {array}, [&](value_id k, values const& s) {
      value_id const element = code_.at(p.element, k);
      return code_.add(op::update, s[0], code_.at(p.list, k), element);
    });
  auto const updated = [&] {
    value_id const element = p.nested == nullptr ? p.element : whole(code_.at(array, p.index), *p.nested);
    return code_.add(op::update, array, p.index, element);
  };
  if (p.valid == ir::nothing) return updated();
  return code_.build().if_(p.valid, updated, [&] { return array; });
}

/// Whether the old value of an operation is rematerialised, and not saved. In maps these are operations about as cheap as a load, and
/// arrays whose length may differ between iterations; in loops, all operations, since nothing but the loop-carried values of each
/// iteration is saved.
bool value_changes::is_rematerialised(node_id n) const {
  function const& f = code_.original();
  node_id const owner = is_outside_loops(f, f[n].parent) ? node_id(ir::nothing) : owner_of(f, n);
  if (owner != ir::nothing && is_counted_loop(f[owner].code)) return true;
  op const code = f[n].code;
  if (owner != ir::nothing)
    for (value_id const v : f.results_of(n))
      if (f.type_of(v).rank > 0 &&
          (f.type_of(v).rank > 1 || !is_counted(code) || !code_.shapes.is_invariant(v)))
        return true;
  if (f[n].result_count != 1 || f[n].region_count != 0) return false;
  if (code == op::at || code == op::length) return true;
  return (ir::is_elementwise(code) || code == op::convert) && owner != ir::nothing;
}

/// The values that the regions of an operation capture: found once.
std::vector<value_id> const& value_changes::captured(node_id n) const {
  std::optional<std::vector<value_id>>& all = captured_[index_of(n)];
  if (!all) all = ir::captures_of(code_.original(), n);
  return *all;
}

/// The old element of a map's result.
value_id value_changes::old_element(value_id v, value_id index) {
  std::uint32_t const number = code_.saved.value(v);
  auto where = code_.path(code_.saved[number].depth);
  where.push_back(index);
  return code_.read(number, where);
}

/// The differences of the elements of a list in a sum.
value_id value_changes::differences(value_id v, delta const& p, value_id count) {
  return code_.build().map(count, [&](value_id k) {
    value_id const before = old_element(v, code_.at(p.list, k));
    return code_.add(op::sub, code_.at(p.element, k), before);
  });
}

} // namespace overdub::increments
