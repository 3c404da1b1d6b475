// Writes an update program. The writer visits a function's operations in order and emits code that recomputes those that a change
// affects. Unaffected values are read where an affected operation uses them: from memory, or recomputed from saved values.
#pragma once

#include <overdub/implementation/incremental/affected_iterations.hpp>
#include <overdub/implementation/incremental/changed_lists.hpp>
#include <overdub/implementation/incremental/recomputation.hpp>
#include <overdub/implementation/incremental/reduction_updates.hpp>
#include <overdub/implementation/incremental/speculation.hpp>
#include <overdub/implementation/incremental/value_changes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::increments {

/// Selects the update of each operation, and writes those of control flow and of reads. Guards and saved values are described in
/// update_program.hpp.
class update_writer : update_emitter {
public:
  explicit update_writer(update_code& code)
      : update_emitter(code), known_(code), lists_(code), guards_(code, known_, lists_),
        copies_(code, known_), affected_(code, known_, lists_, guards_), reductions_(code, known_, copies_) {}
  update_writer(update_writer const&) = delete;
  update_writer& operator=(update_writer const&) = delete;

  void write(change_signature const& changes, disabled_guards const& d);
  /// Recomputes everything, to compute the saved values.
  void write_full_update();
  bool must_restart() const { return known_.must_restart(); }
  update_program finish() &&;

private:
  static constexpr std::size_t maximum_duplicated = 64; // operations of an iteration that is peeled off

  void visit(region_id r);
  void visit(node_id n);
  bool is_affected(node_id n);
  void recompute(node_id n, std::string_view why = {});
  // ---- inputs, and the finished program (make_update_program.cpp)
  void begin_input(std::uint32_t input, input_change const& how);
  void begin_list(std::uint32_t input, change& to);
  void begin_element(
      std::uint32_t input, input_change const& how, std::uint32_t ordinal, std::uint32_t axis, change& to);
  update_value value_of(value_id v, std::vector<value_id>& results) const;
  // ---- lengths, trip counts and sums of two numbers
  void visit_length(node_id n);
  bool add_list_to_length(node_id n);
  void add_appended(node_id n);
  void add_difference(node_id n);
  void visit_reduction(node_id n);
  // ---- update_writer_reads.hpp: reads of elements
  void visit_at(node_id n);
  void select_row(node_id n, change const& c);
  void select_element(
      change const& c, std::vector<value_id> const& indices, std::size_t k, value_id where, value_id& found);
  bool has_old_indices(node_id n) const;
  // ---- update_writer_maps.hpp
  using deltas_of_results = std::vector<std::vector<delta>>;
  void visit_map(node_id n);
  bool returns_arrays(node_id n) const;
  std::vector<value_id> emit_body(node_id n, affected const& r);
  std::vector<value_id> emit_new_iteration(node_id n, iteration const& t, std::span<value_id const> entering);
  std::vector<value_id> emit_new_iterations(node_id n, change const& count, values const& entering);
  void add_appended_deltas(value_id v, change const& count, value_id elements, std::vector<delta>& to);
  void yield_stores(std::size_t first_store, value_id index, values& yielded);
  void
  collect_stores(std::size_t first_store, value_id index, value_id list, node_id many, std::uint32_t next);
  void add_appended_delta(
      value_id v, value_id index, value_id element, std::uint32_t ordinal, std::vector<delta>& to);
  void emit_iteration(
      node_id n, affected const& r, std::size_t number, std::vector<affected> const& earlier,
      deltas_of_results& deltas);
  void emit_iteration_list(
      node_id n, affected const& r, std::vector<affected> const& earlier, deltas_of_results& deltas);
  template <class Emit>
  values emit_if(value_id condition, Emit const& emit);
  // ---- update_writer_branches.hpp
  struct branch_update { // the changes of the values that a branch yields
    struct one {
      bool changed = false;
      value_id new_value = ir::nothing, difference = ir::nothing;
      std::vector<delta> deltas;
    };
    std::vector<one> results;
  };
  void visit_branch(node_id n);
  branch_update update_branch(node_id n, std::uint32_t i, value_id taken, bool as_whole);
  std::vector<value_id> emit_flipped(node_id n, value_id flips);
  bool has_only_elements(change const& c, region_id inside) const;
  // ---- update_writer_loops.hpp: loops with loop-carried values
  void visit_loop(node_id n);
  void recompute_nested(node_id n);
  bool reads_elements(node_id n);
  std::string_view why_recompute_loop(node_id n, std::vector<affected>& all);
  void set_stacked_results(node_id n, std::span<value_id const> elements, value_id first, value_id stop);
  void append_to_loop(node_id n, change const& count);
  std::pair<value_id, value_id> bounds_of(node_id n, std::vector<affected> const& all);
  value_id initial_values_differ(node_id n);
  value_id
  continues(values const& entering, value_id count, value_id last, std::span<std::uint32_t const> states);
  std::vector<value_id> emit_loop_iteration(iteration const& t, std::span<value_id const> entering);
  bool is_short(region_id body) const;

  value_changes known_;
  changed_lists lists_;
  speculation guards_;
  recomputation copies_;
  affected_iterations affected_;
  reduction_updates reductions_;
  bool recomputes_all_ = false;
};

inline void update_writer::visit(region_id r) {
  for (node_id n = original()[r].first; n != original()[r].last; n = original()[n].next) {
    visit(n);
    for (value_id const v : original().results_of(n)) known_.set_visited(v);
  }
}

inline void update_writer::visit(node_id n) {
  if (!is_affected(n)) return;
  bool const is_read = original()[n].code == op::at || original()[n].code == op::length;
  if (recomputes_all_)
    return recompute(
        n, "a sum was not finite, rows had different sizes, memory ran out, or a plain run saved nothing");
  if (is_in_loop() && (original()[n].region_count != 0 || original()[n].code == op::reduce))
    return recompute_nested(n);
  if (is_new_iteration_ && !is_read) return recompute(n);
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
    recompute(n);
    add_difference(n);
    return add_appended(n);
  }
}

/// The length of an array grows by the appended elements. The lengths of several arrays are equal.
inline void update_writer::visit_length(node_id n) {
  value_id const v = original().result(n);
  change* const first = known_.change_of(original().operand(n, 0));
  auto const count_of = [](change const* c) {
    return c == nullptr ? std::ptrdiff_t{0}
                        : std::count_if(c->deltas.begin(), c->deltas.end(), [](delta const& p) {
                            return p.is_appended;
                          });
  };
  if (add_list_to_length(n)) return;
  std::ptrdiff_t const more = count_of(first);
  std::int64_t minimum = 0;
  for (value_id const array : original().operands_of(n)) {
    change const* const c = known_.change_of(array);
    if ((c != nullptr && c->whole) || count_of(c) != more) return recompute(n);
    if (c != nullptr && c->appended_input != layout::none)
      minimum = 1; // an append to an empty array is a change as a whole
  }
  if (more == 0) return is_new_iteration_ ? recompute(n) : void();
  std::vector<value_id> appended_indices;
  for (delta const& p : first->deltas)
    if (p.is_appended) appended_indices.push_back(p.index);
  // The other arrays have their new elements at the same indices.
  if (at_.region() == guards_.outermost_region())
    for (value_id const array : original().operands_of(n)) {
      auto next = appended_indices.begin();
      for (delta& p : known_.change_of(array)->deltas)
        if (p.is_appended) p.index = *next++;
    }
  value_id const now = at_.add(op::add, appended_indices.front(), literal(ir::i64, appended_indices.size()));
  known_.set_whole(v, now);
  known_.set_old(v, appended_indices.front());
  change& c = *known_.change_of(v);
  c.appended_indices = std::move(appended_indices);
  c.minimum = minimum;
  note(n, step::extent::scalar);
}

/// The same where a list of elements was appended. Returns whether one was.
inline bool update_writer::add_list_to_length(node_id n) {
  std::vector<delta*> all;
  std::int64_t minimum = 0;
  bool is_list = false, is_other = false;
  for (value_id const array : original().operands_of(n)) {
    change* const c = original().is_literal(array) ? nullptr : known_.change_of(array);
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
    recompute(n);
    return true;
  }
  std::vector<value_id> parts;
  for (delta const* p : all) parts.push_back(p->element);
  value_id const first = all[0]->first, list = all[0]->list;
  value_id const count = written().result(at_.insert(op::length, parts, std::array{ir::i64}));
  // The other arrays have their new elements at the same indices.
  if (at_.region() == guards_.outermost_region())
    for (delta* p : all) {
      p->first = first;
      p->end = all[0]->end;
      p->list = list;
    }
  value_id const v = original().result(n);
  known_.set_whole(v, at_.add(op::add, first, count));
  known_.set_old(v, first);
  change& c = *known_.change_of(v);
  c.appended_list = list;
  c.first_appended = first;
  c.appended_count = count;
  c.minimum = minimum;
  note(n, step::extent::scalar);
  return true;
}

/// A trip count that differs from another one by a literal gets as many appended iterations.
inline void update_writer::add_appended(node_id n) {
  op const code = original()[n].code;
  if (code != op::add && code != op::sub) return;
  value_id const a = original().operand(n, 0), b = original().operand(n, 1);
  bool const second = code == op::add && original().is_literal(a);
  value_id const of = second ? b : a, by = second ? a : b;
  if (original().is_literal(of) || !original().is_literal(by) || original().type_of(of) != ir::i64) return;
  change const* const c = known_.change_of(of);
  if (c == nullptr || !c->has_appended()) return;
  auto const shift = static_cast<std::int64_t>(original().bits_of(by));
  if (shift < -maximum_shift || shift > maximum_shift) return;
  std::int64_t minimum = code == op::add ? c->minimum + shift : c->minimum - shift;
  value_id const v = original().result(n),
                 before = c->appended_list == ir::nothing ? c->appended_indices.front() : c->first_appended;
  value_id const first = at_.add(code, before, literal(ir::i64, static_cast<std::uint64_t>(shift)));
  if (minimum < 0) { // there may be no iterations yet
    if (!guards_.may_speculate_on({v}) ||
        !guards_.speculate_on({v}, at_.add(op::ge, first, literal(ir::i64, 0))))
      return;
    minimum = 0;
  }
  change& to = *known_.change_of(original().result(n));
  for (value_id const index : c->appended_indices)
    to.appended_indices.push_back(at_.add(code, index, literal(ir::i64, static_cast<std::uint64_t>(shift))));
  to.minimum = minimum;
  if (c->appended_list == ir::nothing) {
    known_.set_old(original().result(n), to.appended_indices.front());
    return;
  }
  to.first_appended = first;
  to.appended_count = c->appended_count;
  to.appended_list = indices_from(to.first_appended, to.appended_count);
  known_.set_old(original().result(n), to.first_appended);
}

/// The difference of a sum of two values is the sum of their differences, which is more exact than subtracting the two results.
inline void update_writer::add_difference(node_id n) {
  op const code = original()[n].code;
  if ((code != op::add && code != op::sub) || !is_outside_loops(original(), original()[n].parent) ||
      original().type_of(original().result(n)) != ir::f64)
    return;
  bool is_known = false; // of at least one operand
  for (value_id const v : original().operands_of(n))
    is_known = is_known || (!original().is_literal(v) && known_.change_of(v) != nullptr &&
                            known_.change_of(v)->difference != ir::nothing);
  if (!is_known) return;
  value_id by = ir::nothing;
  for (std::uint32_t k = 0; k < 2; ++k) {
    value_id const v = original().operand(n, k);
    change const* const c = original().is_literal(v) ? nullptr : known_.change_of(v);
    if (c == nullptr) continue;
    value_id part = c->difference;
    if (part == ir::nothing) {
      value_id const before = known_.old_value(v);
      part = at_.add(op::sub, known_.new_value(v), before);
    }
    if (k == 1 && code == op::sub) part = at_.add(op::neg, part);
    by = by == ir::nothing ? part : at_.add(op::add, by, part);
  }
  known_.change_of(original().result(n))->difference = by;
}

inline void update_writer::recompute(node_id n, std::string_view why) {
  std::vector<value_id> const new_values = copies_.emit(n);
  if (original()[n].code == op::reduce) reductions_.store_saved_trees(n);
  bool is_whole = original()[n].region_count != 0 || original()[n].code == op::reduce;
  for (value_id const v : original().results_of(n))
    is_whole = is_whole || (original().type_of(v).rank > 0 && original()[n].code != op::at);
  if (is_whole) note(n, step::extent::whole, why);
  bool are_guarded = true;
  for (std::uint32_t i = 0; i < new_values.size(); ++i)
    are_guarded = guards_.set_or_guard_unchanged(n, original().result(n, i), new_values[i]) && are_guarded;
  if (!is_whole && !are_guarded) note(n, step::extent::scalar);
}

inline bool update_writer::is_affected(node_id n) {
  if (recomputes_all_ || is_new_iteration_) return true;
  for (value_id const v : original().operands_of(n))
    if (!original().is_literal(v) && known_.change_of(v) != nullptr) return true;
  if (original()[n].region_count != 0)
    for (value_id const v : known_.captured(n))
      if (known_.change_of(v) != nullptr) return true;
  return false;
}

inline void update_writer::visit_reduction(node_id n) {
  bool const is_sum = original()[n].attributes.operation == op::add && original()[n].operand_count <= 2;
  std::string_view const why =
      is_sum ? reductions_.why_recompute_sum(n) : reductions_.why_recompute_reduction(n);
  if (!why.empty()) return recompute(n, why);
  if (is_sum) return reductions_.update_sum(n);
  values const made = reductions_.update_path(n);
  for (std::uint32_t k = 0; k < made.size(); ++k)
    guards_.set_or_guard_unchanged(n, original().result(n, k), made[k]);
}

} // namespace overdub::increments
