// Maps: the affected iterations are recomputed.
#pragma once

#include <overdub/implementation/incremental/affected_iterations.hpp>
#include <overdub/implementation/incremental/emitted_iterations.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::increments {

using deltas_of_results = std::vector<std::vector<delta>>;

void visit_map(update_writer& w, node_id n);
bool returns_arrays(update_writer const& w, node_id n);
std::vector<value_id>
emit_new_iteration(update_writer& w, node_id n, iteration const& t, std::span<value_id const> entering);
std::vector<value_id>
emit_new_iterations(update_writer& w, node_id n, change const& count, values const& entering);
void add_appended_delta(
    update_writer& w, value_id v, value_id index, value_id element, std::uint32_t ordinal,
    std::vector<delta>& to);
void add_appended_deltas(
    update_writer& w, value_id v, change const& count, value_id elements, std::vector<delta>& to);
/// Emits code that runs only where the condition holds; nothing stands for true. Returns what `emit` returns, and zeros where
/// the condition does not hold. Undoes the changes that it sets.
template <class Emit>
values emit_if(update_writer& w, value_id condition, Emit const& emit);

// Parts of these.
std::vector<value_id> emit_body(update_writer& w, node_id n, affected const& r);
void emit_iteration(
    update_writer& w, node_id n, affected const& r, std::size_t number, std::vector<affected> const& earlier,
    deltas_of_results& deltas);
void emit_iteration_list(
    update_writer& w, node_id n, affected const& r, std::vector<affected> const& earlier,
    deltas_of_results& deltas);

/// Emits code that runs only where the condition holds; nothing stands for true. Returns what `emit` returns, and zeros where
/// the condition does not hold. Undoes the changes that it sets.
template <class Emit>
values emit_if(update_writer& w, value_id condition, Emit const& emit) {
  std::size_t const from = w.known.checkpoint();
  values made;
  auto const emit_and_restore = [&] {
    made = emit();
    w.known.restore(from);
    return made;
  };
  if (condition == ir::nothing) return emit_and_restore();
  auto const zeros = [&] {
    for (value_id& v : made) v = ir::zero_value(w.code.cursor, w.code.type_of(v));
    return made;
  };
  return w.code.build().if_(condition, emit_and_restore, zeros).results;
}

} // namespace overdub::increments
