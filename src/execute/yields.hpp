// Lowering of yields: a region computes its results in their destinations if possible, and otherwise moves them there.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>
#include <overdub/implementation/execute/parallel_moves.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::execute {

/// Hints that scalars that a region yields are computed in their destinations, unless the values that
/// the destinations hold before are used later.
void hint_results(
    function_lowering&, region_id, std::span<offset const> to, std::span<value_id const> standing_there);
/// Whether a loop stacks a loop-carried number at the start of each iteration: the next value may have its words.
bool is_stacked_first(function_lowering const&, ir::use_id, region_id body);

void emit_move(function_lowering&, word_move const&);
/// Emits parallel moves: each source is read before it is overwritten. Frees the words in `aside` afterwards, {at, number}.
void emit_moves(
    function_lowering&, std::vector<word_move> moves, std::vector<std::pair<offset, offset>> aside = {});
/// Moves the first results of a region to these words.
void yield_to(function_lowering&, region_id, std::span<offset const> to);
/// Releases arrays that a yield overwrites.
void release_overwritten(function_lowering&, node_id yield, std::span<offset const> to);

/// At the end of the condition of a while: returns the jump that leaves the loop, whose target is set later.
std::uint32_t leave_unless(function_lowering&, region_id condition);
/// Stores a value, which a region yields, as element or row `index` of an array.
void store_output(function_lowering&, value_id, offset index, offset array);

} // namespace overdub::execute
