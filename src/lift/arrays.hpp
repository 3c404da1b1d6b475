// Emits loads, stores, computations of indices, and calls, whose arguments may be arrays.
#pragma once

#include "environment.hpp"

namespace overdub::lifting {

/// The index of a pointer that is derived from another one.
ir::value_id index_of(environment& e, llvm::GEPOperator const& gep);

void emit_load(environment& e, llvm::LoadInst const& i);
void emit_store(environment& e, llvm::StoreInst const& i);
/// memcpy, memmove and memset of whole elements.
void emit_copy(environment& e, llvm::MemIntrinsic const& i);
/// Memory that is allocated is an array of zeros; its release needs no code.
void emit_allocation(environment& e, llvm::CallBase const& call);
/// A call of a function of the module. What it writes through pointers returns as arrays.
void emit_call(environment& e, llvm::CallBase const& call, module_plan const& all);

} // namespace overdub::lifting
