// Lifts a file of LLVM bitcode for overdub-opt.
#pragma once

#include <overdub/ir/program.hpp>

#include <string>

namespace overdub::tools {

/// A program, and what was refused, as comments of its text.
struct lifted_file {
  ir::program program;
  std::string refusals; // a line each, after "; "
};
/// Throws failure if the file is not a module, or this overdub-opt was built without LLVM.
lifted_file lift_program(std::string const& path);

} // namespace overdub::tools
