// Emits what a function in linear memory does with addresses: its frame, loads, stores, copies, allocations, and calls.
#pragma once

#include "environment.hpp"

namespace overdub::lifting {

/// Allocates the local variables of a function, before its code; and releases them after it.
void enter_frame(environment& e, module_plan const& all);
void leave_frame(environment& e, module_plan const& all);

/// The address of a pointer that is derived from another one.
ir::value_id address_of(environment& e, llvm::GEPOperator const& gep);

/// Whether a function in linear memory emits an instruction by emit_in_memory.
bool is_in_memory(llvm::Instruction const& i, module_plan const& all);
/// Loads, stores, copies, allocations, and calls of functions of the module.
void emit_in_memory(environment& e, llvm::Instruction const& i, module_plan const& all);

/// A call of a function of the program that takes the memory first and returns it last; it sets the memory. Returns the other results.
std::vector<ir::value_id> call_in_memory(
    environment& e, ir::function_id callee, std::vector<ir::value_id> const& arguments, memory_effect effect);

} // namespace overdub::lifting
