// Loops with loop-carried values: they are recomputed from the first affected iteration on, until all loop-carried values equal the saved
// ones (early cutoff, as in salsa).
#pragma once

#include <overdub/implementation/incremental/affected_iterations.hpp>
#include <overdub/implementation/incremental/emitted_iterations.hpp>
#include <overdub/implementation/incremental/map_updates.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::increments {

void visit_loop(update_writer& w, node_id n);
void recompute_nested(update_writer& w, node_id n);

// Parts of these.
std::string_view affect_loop(update_writer& w, node_id n, std::vector<affected>& all);
value_id continues(
    update_writer& w, values const& entering, value_id count, value_id last,
    std::span<std::uint32_t const> states);
std::vector<value_id>
emit_loop_iteration(update_writer& w, iteration const& t, std::span<value_id const> entering);
bool is_short(update_writer const& w, region_id body);
void set_stacked_results(
    update_writer& w, node_id n, std::span<value_id const> elements, value_id first, value_id stop);
void append_to_loop(update_writer& w, node_id n, change const& count);
value_id initial_values_differ(update_writer& w, node_id n);
std::pair<value_id, value_id> bounds_of(update_writer& w, node_id n, std::vector<affected> const& all);
bool reads_elements(update_writer& w, node_id n);

} // namespace overdub::increments
