// Lifting: the LLVM bitcode of ordinary C and C++ becomes a program. Link overdub::lift, which is built where overdub::jit is.
// docs/lifting.md describes what is lifted, and what is refused.
#pragma once

#include <overdub/core/error.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdub {

/// Bytes that are not a module of LLVM: the reason is in the text.
struct lift_error : rejected_program {
  using rejected_program::rejected_program;
};

/// Limits of the lifter: what exceeds one is refused.
struct lift_options {
  std::size_t bytes = std::size_t{256} << 20; // of a module
  std::uint32_t blocks = 10'000;              // of a function
  std::uint32_t nesting = 200;                // of the branches and loops of a function
  std::uint32_t elements = 65'536;            // of a constant table, or of a local array
  // The reader of LLVM may crash on damaged bitcode. Therefore a child process reads it first, unless a compiler has just written it.
  bool is_trusted = false;
};

/// A function that is not lifted.
struct refused_function {
  std::string name; // demangled
  std::string file; // the source location of the construct; empty without debug information
  std::uint32_t line = 0;
  std::string construct; // what is not lifted
  std::string why;
  std::string instead; // what to do
  bool operator==(refused_function const&) const = default;
};
/// One line: the function, the location, the construct, why, and what to do.
std::string text_of(refused_function const& f);

/// The functions of a module.
struct lift_result {
  ir::program program; // verified
  std::vector<refused_function> refused;
};

/// Lifts the functions that a module defines. `module` is bitcode or textual IR, of clang -O1 -Xclang -disable-llvm-passes. The functions of
/// the program have demangled names. Numbers keep their types: bool, double and float as they are, integers of all widths as i64, with the
/// wrap of their width. A pointer to numbers is an array; arrays that a function writes are also results, after the returned value.
/// Throws lift_error if the bytes are not a module. O(instructions × nesting). Thread-safe.
lift_result lift(std::string_view module, lift_options const& o = {});
/// The same for a file.
lift_result lift_file(std::string const& path, lift_options const& o = {});

} // namespace overdub
