// The compilation of a whole program to a module of LLVM: the functions reachable from an entry, and entry points for
// C++.
#pragma once

#include "debug_lines.hpp"
#include "elementary.hpp"
#include "engine.hpp"
#include "function_table.hpp"
#include "function_values.hpp"
#include "host_operations.hpp"

#include <overdub/implementation/ir/parameter_ownership.hpp>

#include <memory>
#include <optional>

namespace overdub::jit {

/// The target's vectors.
struct target_vectors {
  vector_width width; // for which calls of vector functions are profitable
  vector_unit unit;   // of the processor
};

/// What a run of the code needs.
struct run_needs {
  bool machine = false;     // some function uses it
  bool interpreter = false; // some function may throw fails_ahead
};

/// What the functions of a program share while they are compiled.
struct program_state {
  program_state(ir::program const& given, function_id entry, execute::code& made, options const& o);

  ir::program const& p;
  options const& how;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  ir::call_components calls;
  ir::parameter_ownership owners;
  bool const is_repeatable; // a failing run can be repeated: it has no side effects
  target_vectors target;
  elementary_functions elementary;
  function_table functions;
  function_values closures;
  host_operations hosts;
  std::optional<debug_lines> lines; // if requested
  run_needs needs{};
};

/// Compiles the entry and all reachable functions, with an entry point for machines, `overdub:entry`, and for
/// functions of scalars one for C++, `overdub:target`.
void compile_program(program_state&, function_id entry);

} // namespace overdub::jit
