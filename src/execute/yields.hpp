// Lowering of yields, as compilers lower phi functions when they leave SSA form. Register coalescing computes a result of a region in its
// destination, such as the slot of a loop-carried value. Parallel moves copy the other results to their destinations.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>
#include <overdub/implementation/execute/parallel_moves.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::execute {

/// Hints to slot allocation: the region is to compute the scalars that it yields in the slots `to`. `old_values`: the values that
/// these slots hold when the region starts, if any. A result has no hint if its slot's old value is used after the result is computed.
void hint_results(
    function_lowering&, region_id, std::span<offset const> to, std::span<value_id const> old_values);
/// Whether a loop writes a loop-carried number to a stacked output at the start of each iteration. The next value of the number can then be
/// computed in the same slot, since the yield no longer reads the old one.
bool is_stacked_first(function_lowering const&, ir::use_id, region_id body);

void emit_move(function_lowering&, word_move const&);
/// Emits parallel moves: each source is read before it is overwritten. Then frees the words of `temporaries`, pairs {offset, count}.
void emit_moves(
    function_lowering&, std::vector<word_move> moves,
    std::vector<std::pair<offset, offset>> temporaries = {});
/// Moves the first to.size() operands of the region's yield to the slots `to`.
void yield_to(function_lowering&, region_id, std::span<offset const> to);
/// Releases the arrays in the slots `to` whose last use is the yield, before the moves overwrite these slots.
void release_overwritten(function_lowering&, node_id yield, std::span<offset const> to);

/// Ends the condition of a while: emits a jump that leaves the loop if the condition is false. Returns the jump; its target is not yet set.
std::uint32_t leave_unless(function_lowering&, region_id condition);
/// Stores a value that a region yields as element or row `index` of an array.
void store_output(function_lowering&, value_id, offset index, offset array);

} // namespace overdub::execute
