// The functions of a compiled program that C++ calls.
#pragma once

#include "program.hpp"

namespace overdub::jit {

/// Makes `overdub:entry`, void(std::byte* frame, machine*), and for functions of scalars `overdub:target`, R(A...).
/// Call it after all functions are compiled.
void make_entry_points(program_state&, function_id entry);

} // namespace overdub::jit
