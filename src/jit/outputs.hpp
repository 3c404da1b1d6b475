// Arrays that loops create, element by element.
#pragma once

#include "function.hpp"

#include <vector>

namespace overdub::jit {

/// An array that a loop creates, element by element.
struct output {
  value_id result, yielded;
  value made{};                 // of scalars
  llvm::Value* words = nullptr; // of rows: the memory of the array, and of a row after it
  bool is_filled = false;       // by the map that creates each row, in place
};
/// Allocates an array for what a loop with this trip count yields.
output new_output(function_state&, value_id result, value_id yielded, llvm::Value* count, ir::op code);
/// Stores what an iteration yielded.
void store_output(function_state&, output const& o, llvm::Value* index);
/// Defines the result.
void finish_output(function_state&, output const& o);

/// Whether a map yields rows that a nested map creates, of loop-invariant size, and that are only read otherwise.
bool can_fill_row(function_state const&, value_id yielded, region_id body);
/// Allocates the array of all rows before the map.
void fill_rows(function_state&, output& o, region_id body, llvm::Value* count);

} // namespace overdub::jit
