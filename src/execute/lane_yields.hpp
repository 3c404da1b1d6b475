// Lowering in lanes: what regions take and yield, and the arrays that loops and maps make.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::execute {

/// Lanes or words for results.
std::vector<offset> new_results(function_lowering&, std::span<value_id const> all);
/// Results for loop-carried values, to which the initial values, operands from first_operand on, are moved.
std::vector<offset>
start_loop_carried_lanes(function_lowering&, node_id, std::uint32_t first_operand, std::uint32_t count);
/// Moves what a region yields to these results, at `to`.
void yield_lanes(
    function_lowering&, region_id, std::span<offset const> to, std::span<value_id const> results);
/// Destinations as hints: for varying results whose yielded value varies, and for uniform ones with a uniform value.
std::vector<offset> fitting_places(
    function_lowering const&, region_id, std::span<offset const> to, std::span<value_id const> results);

/// A result that is an array with an element for each iteration, which `make` creates.
offset new_output(function_lowering&, value_id, offset count, handler make);
/// For each output of scalars in lanes: a word for the pointer to the destination in an iteration.
std::vector<offset> new_places(function_lowering&, std::span<value_id const> results);
/// Emits these pointers, at the start of an iteration.
void place_outputs(
    function_lowering&, std::span<value_id const> results, std::span<offset const> arrays,
    std::span<offset const> places, offset index);
/// Stores an element of an output, unless it was computed in its place.
void store_lanes(
    function_lowering&, value_id yielded, value_id result, offset index, offset array, offset place);
void free_places(function_lowering&, std::span<offset const> places);

} // namespace overdub::execute
