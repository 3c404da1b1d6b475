// Calls through pointers: of functions, and of virtual functions.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <vector>

namespace overdub::lifting {

/// The functions of a module whose address is used, as in a virtual table, in its order. O(uses of functions).
std::vector<llvm::Function const*> functions_with_address(llvm::Module const& m);

/// Each call through a pointer becomes a call of a dispatcher: a function that compares the pointer with the functions of that type whose
/// address is used, by bisection in the order of functions_with_address, and calls the one that is equal. If there is none, the call stays.
/// O(instructions), and O(functions with an address) for each type of function.
void resolve_indirect_calls(llvm::Module& m);

/// Whether resolve_indirect_calls made a function.
bool is_dispatcher(llvm::Function const& f);

} // namespace overdub::lifting
