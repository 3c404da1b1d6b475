#include <overdub/implementation/incremental/branch_updates.hpp>
#include <overdub/implementation/incremental/loop_updates.hpp>
#include <overdub/implementation/incremental/map_updates.hpp>
#include <overdub/implementation/incremental/read_updates.hpp>
#include <overdub/implementation/incremental/recomputation.hpp>
#include <overdub/implementation/incremental/reduction_updates.hpp>
#include <overdub/implementation/incremental/update_operations.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::increments {

void visit(update_writer& w, region_id r) {
  for (node_id n = w.original()[r].first; n != w.original()[r].last; n = w.original()[n].next) visit(w, n);
}

void visit(update_writer& w, node_id n) {
  if (!is_affected(w, n)) return;
  bool const is_read = w.original()[n].code == op::at || w.original()[n].code == op::length;
  if (w.recomputes_all)
    return recompute(
        w, n, "a sum was not finite, rows had different sizes, memory ran out, or a plain run saved nothing");
  if (w.code.is_in_loop() && (w.original()[n].region_count != 0 || w.original()[n].code == op::reduce))
    return recompute_nested(w, n);
  if (w.code.is_new_iteration && !is_read) return recompute(w, n);
  switch (w.original()[n].code) {
  case op::at:
    return visit_at(w, n);
  case op::reduce:
    return visit_reduction(w, n);
  case op::map:
    return visit_map(w, n);
  case op::loop:
    return visit_loop(w, n);
  case op::if_:
    return visit_branch(w, n);
  case op::length:
    return visit_length(w, n);
  default:
    recompute(w, n);
    add_difference(w, n);
    return add_appended(w, n);
  }
}

/// The length of an array grows by the appended elements. The lengths of several arrays are equal.
void visit_length(update_writer& w, node_id n) {
  value_id const v = w.original().result(n);
  change* const first = w.known.change_of(w.original().operand(n, 0));
  auto const count_of = [](change const* c) {
    return c == nullptr ? std::ptrdiff_t{0}
                        : std::count_if(c->deltas.begin(), c->deltas.end(), [](delta const& p) {
                            return p.is_appended;
                          });
  };
  if (add_list_to_length(w, n)) return;
  std::ptrdiff_t const more = count_of(first);
  std::int64_t minimum = 0;
  for (value_id const array : w.original().operands_of(n)) {
    change const* const c = w.known.change_of(array);
    if ((c != nullptr && c->whole) || count_of(c) != more) return recompute(w, n);
    if (c != nullptr && c->appended_input != layout::none)
      minimum = 1; // an append to an empty array is a change as a whole
  }
  if (more == 0) return w.code.is_new_iteration ? recompute(w, n) : void();
  std::vector<value_id> appended_indices;
  for (delta const& p : first->deltas)
    if (p.is_appended) appended_indices.push_back(p.index);
  // The other arrays have their new elements at the same indices.
  if (w.code.cursor.region() == w.guards.outermost_region())
    for (value_id const array : w.original().operands_of(n)) {
      auto next = appended_indices.begin();
      for (delta& p : w.known.change_of(array)->deltas)
        if (p.is_appended) p.index = *next++;
    }
  value_id const now =
      w.code.add(op::add, appended_indices.front(), w.code.literal(ir::i64, appended_indices.size()));
  w.known.set_whole(v, now);
  w.known.set_old(v, appended_indices.front());
  change& c = *w.known.change_of(v);
  c.appended_indices = std::move(appended_indices);
  c.minimum = minimum;
  w.code.note(n, step::extent::scalar);
}

/// The same where a list of elements was appended. Returns whether one was.
bool add_list_to_length(update_writer& w, node_id n) {
  std::vector<delta*> all;
  std::int64_t minimum = 0;
  bool is_list = false, is_other = false;
  for (value_id const array : w.original().operands_of(n)) {
    change* const c = w.original().is_literal(array) ? nullptr : w.known.change_of(array);
    delta* appended = nullptr;
    if (c != nullptr)
      for (delta& p : c->deltas)
        if (p.is_appended && p.list != ir::nothing) appended = &p;
    is_list = is_list || appended != nullptr;
    is_other = is_other || appended == nullptr || c->whole;
    all.push_back(appended);
    if (c != nullptr && c->appended_input != layout::none)
      minimum = 1; // an append to an empty array is a change as a whole
  }
  if (!is_list) return false;
  if (is_other) {
    recompute(w, n);
    return true;
  }
  std::vector<value_id> parts;
  for (delta const* p : all) parts.push_back(p->element);
  value_id const first = all[0]->first, list = all[0]->list;
  value_id const count = w.written().result(w.code.cursor.insert(op::length, parts, std::array{ir::i64}));
  // The other arrays have their new elements at the same indices.
  if (w.code.cursor.region() == w.guards.outermost_region())
    for (delta* p : all) {
      p->first = first;
      p->end = all[0]->end;
      p->list = list;
    }
  value_id const v = w.original().result(n);
  w.known.set_whole(v, w.code.add(op::add, first, count));
  w.known.set_old(v, first);
  change& c = *w.known.change_of(v);
  c.appended_list = list;
  c.first_appended = first;
  c.appended_count = count;
  c.minimum = minimum;
  w.code.note(n, step::extent::scalar);
  return true;
}

/// A trip count that differs from another one by a literal gets as many appended iterations.
void add_appended(update_writer& w, node_id n) {
  op const code = w.original()[n].code;
  if (code != op::add && code != op::sub) return;
  value_id const v = w.original().result(n);
  ir::invariant_number const sum = plus_literal(w.original(), v);
  if (sum.value == ir::nothing || sum.value == v) return;
  change const* const c = w.known.change_of(sum.value);
  if (c == nullptr || !c->has_appended()) return;
  std::int64_t const shift = sum.literal;
  if (shift < -update_code::maximum_shift || shift > update_code::maximum_shift) return;
  auto const shifted = [&](value_id x) {
    auto const by = static_cast<std::uint64_t>(shift < 0 ? -shift : shift);
    return w.code.add(shift < 0 ? op::sub : op::add, x, w.code.literal(ir::i64, by));
  };
  std::int64_t minimum = c->minimum + shift;
  value_id const first =
      shifted(c->appended_list == ir::nothing ? c->appended_indices.front() : c->first_appended);
  if (minimum < 0) { // there may be no iterations yet
    if (!w.guards.may_speculate_on({v}) ||
        !w.guards.speculate_on({v}, w.code.add(op::ge, first, w.code.literal(ir::i64, 0))))
      return;
    minimum = 0;
  }
  change& to = *w.known.change_of(v);
  for (value_id const index : c->appended_indices) to.appended_indices.push_back(shifted(index));
  to.minimum = minimum;
  if (c->appended_list == ir::nothing) {
    w.known.set_old(v, to.appended_indices.front());
    return;
  }
  to.first_appended = first;
  to.appended_count = c->appended_count;
  to.appended_list = w.code.indices_from(to.first_appended, to.appended_count);
  w.known.set_old(v, to.first_appended);
}

/// The difference of a sum of two values is the sum of their differences, which is more exact than subtracting the two results.
void add_difference(update_writer& w, node_id n) {
  op const code = w.original()[n].code;
  if ((code != op::add && code != op::sub) || !is_outside_loops(w.original(), w.original()[n].parent) ||
      w.original().type_of(w.original().result(n)) != ir::f64)
    return;
  bool is_known = false; // of at least one operand
  for (value_id const v : w.original().operands_of(n))
    is_known = is_known || (!w.original().is_literal(v) && w.known.change_of(v) != nullptr &&
                            w.known.change_of(v)->difference != ir::nothing);
  if (!is_known) return;
  value_id by = ir::nothing;
  for (std::uint32_t k = 0; k < 2; ++k) {
    value_id const v = w.original().operand(n, k);
    change const* const c = w.original().is_literal(v) ? nullptr : w.known.change_of(v);
    if (c == nullptr) continue;
    value_id part = c->difference;
    if (part == ir::nothing) {
      value_id const before = w.known.old_value(v);
      part = w.code.add(op::sub, w.known.new_value(v), before);
    }
    if (k == 1 && code == op::sub) part = w.code.add(op::neg, part);
    by = by == ir::nothing ? part : w.code.add(op::add, by, part);
  }
  w.known.change_of(w.original().result(n))->difference = by;
}

void recompute(update_writer& w, node_id n, std::string_view why) {
  std::vector<value_id> const new_values = emit_in_full(w, n);
  if (w.original()[n].code == op::reduce) rebuild_saved_trees(w, n);
  bool is_whole = w.original()[n].region_count != 0 || w.original()[n].code == op::reduce;
  for (value_id const v : w.original().results_of(n))
    is_whole = is_whole || (w.original().type_of(v).rank > 0 && w.original()[n].code != op::at);
  if (is_whole) w.code.note(n, step::extent::whole, why);
  bool are_guarded = true;
  for (std::uint32_t i = 0; i < new_values.size(); ++i)
    are_guarded = w.guards.set_or_guard_unchanged(n, w.original().result(n, i), new_values[i]) && are_guarded;
  if (!is_whole && !are_guarded) w.code.note(n, step::extent::scalar);
}

bool is_affected(update_writer& w, node_id n) {
  if (w.recomputes_all || w.code.is_new_iteration) return true;
  for (value_id const v : w.original().operands_of(n))
    if (!w.original().is_literal(v) && w.known.change_of(v) != nullptr) return true;
  if (w.original()[n].region_count != 0)
    for (value_id const v : w.known.captured(n))
      if (w.known.change_of(v) != nullptr) return true;
  return false;
}

void visit_reduction(update_writer& w, node_id n) {
  bool const is_sum = w.original()[n].attributes.operation == op::add && w.original()[n].operand_count <= 2;
  std::string_view const why = is_sum ? why_recompute_sum(w, n) : why_recompute_reduction(w, n);
  if (!why.empty()) return recompute(w, n, why);
  if (is_sum) return update_sum(w, n);
  values const made = update_path(w, n);
  for (std::uint32_t k = 0; k < made.size(); ++k)
    w.guards.set_or_guard_unchanged(n, w.original().result(n, k), made[k]);
}

} // namespace overdub::increments
