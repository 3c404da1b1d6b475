// Lifts files of LLVM bitcode for overdub-opt.
#pragma once

#include <overdub/ir/program.hpp>

#include <string>
#include <vector>

namespace overdub::tools {

/// A function that other units call by its symbol.
struct embedded_symbol {
  std::string symbol;         // mangled
  std::string function;       // of the program; empty: not lifted
  std::string refusal;        // why it was not lifted, in one line
  std::vector<bool> returned; // by parameter: whether it is an array that is also a result
};

/// A native function that the program calls.
struct embedded_native_symbol {
  std::string symbol;                           // mangled
  std::string name;                             // in the program
  std::vector<std::string> parameters, results; // types in C++, as in called_native
};

/// A program, and what was refused, as comments of its text.
struct lifted_files {
  ir::program program;
  std::string refusals; // a line each, after "; "
  std::vector<embedded_symbol> symbols;
  std::vector<embedded_native_symbol> natives;
};
/// Links the modules, and lifts them. Throws failure if a file is not a module, or this overdub-opt was built without LLVM.
lifted_files lift_program(std::vector<std::string> const& paths);

/// A source in C++ that registers a program, that of the files or what passes made of it, for overdub::lifted.
std::string embedding_source(ir::program const& p, lifted_files const& lifted);

} // namespace overdub::tools
