// Lifting: the LLVM bitcode of ordinary C and C++ becomes a program. Link overdub::lift, which is built where overdub::jit is.
// docs/lifting.md describes what is lifted, and what is refused.
#pragma once

#include <overdub/core/error.hpp>
#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
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

/// An array of linear memory: the type of its elements, and the bits of one in memory.
struct memory_array {
  ir::type element;
  std::uint32_t bits = 64;
  bool operator==(memory_array const&) const = default;
};

/// A function that other units can call by its symbol, and what became of it.
struct lifted_symbol {
  std::string symbol;         // mangled, as in object files
  std::string name;           // demangled
  std::string function;       // in the program; empty if the function was refused, or is in memory alone
  std::vector<bool> returned; // by parameter: whether it is an array that is also a result
};

/// A native function that lifted functions call: an operation `host` of this name, which runs when it is bound in program::hosts.
struct called_native {
  std::string symbol;                  // mangled, as in object files
  std::string name;                    // demangled, as in the program
  std::vector<std::string> parameters; // their types in C++: double, float, bool, std::int32_t
                                       // float[2]: two parameters in the program, which are one struct
  std::vector<std::string>
      results; // the same; several are the fields of a struct, and the elements of an array in the program
};

/// The functions of a module.
struct lift_result {
  ir::program program; // verified
  std::vector<refused_function> refused;
  std::vector<lifted_symbol> symbols;
  std::vector<memory_array>
      memory; // the arrays that functions in linear memory take first; none if there are no such functions
  std::vector<called_native> natives;
};

/// Lifts the functions that a module defines. `module` is bitcode or textual IR, of clang -O1 -Xclang -disable-llvm-passes. The functions of
/// the program have demangled names. Numbers keep their types: bool, double and float as they are, integers of all widths as i64, with the
/// wrap of their width. A pointer to numbers is an array; arrays that a function writes are also results, after the returned value.
/// A function f whose pointers cannot be followed to one array each becomes "f in memory", whose pointers are addresses (linear_memory).
/// Throws lift_error if the bytes are not a module. O(instructions × nesting). Thread-safe.
lift_result lift(std::string_view module, lift_options const& o = {});
/// The same for several modules, which are linked first. Throws lift_error also if two of them define one function.
lift_result lift(std::span<std::string_view const> modules, lift_options const& o = {});
/// The same for files.
lift_result lift_files(std::span<std::string const> paths, lift_options const& o = {});
lift_result lift_file(std::string const& path, lift_options const& o = {});

/// The linear memory that functions in memory take and return: objects that C++ code has at addresses. An object is written by the types of
/// its fields, at its address and the offsets that C++ gives the fields; a pointer is written as a std::int64_t.
class linear_memory {
public:
  /// The memory with the constants of a lifted module. Throws argument_error if no function of it is in memory.
  explicit linear_memory(lift_result const& lifted);
  /// The results of a function in memory that belong to it, in their order. Throws argument_error if they are no memory.
  void assign(std::span<datum const> arrays);

  /// The address of new bytes, aligned to 16. Throws size_error for 2^40 bytes or more. Amortised O(bytes).
  std::int64_t allocate(std::size_t bytes);
  /// Writes or reads a number. Throws argument_error for a type that no function accesses in memory, or an address that is not aligned, and
  /// index_error for one that is not allocated. O(1).
  template <class T>
  requires(std::is_arithmetic_v<T>) //
      void write(std::int64_t address, T x) {
    if constexpr (std::is_floating_point_v<T>)
      write_bits({std::is_same_v<T, double> ? ir::f64 : ir::f32, 8 * sizeof(T)}, address, datum(x).bits());
    else
      write_bits(
          {ir::i64, 8 * sizeof(T)}, address,
          sign_extended(static_cast<std::uint64_t>(x), 64 - 8 * sizeof(T)));
  }
  template <class T>
  requires(std::is_arithmetic_v<T>) //
      T read(std::int64_t address)
  const {
    if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<double>(read_bits({ir::f64, 64}, address));
    else if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<float>(static_cast<std::uint32_t>(read_bits({ir::f32, 32}, address)));
    else
      return static_cast<T>(read_bits({ir::i64, 8 * sizeof(T)}, address));
  }

  /// The first arguments of a function in memory. O(bytes).
  std::vector<datum> arrays() const;

private:
  static std::uint64_t sign_extended(std::uint64_t x, unsigned unused) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x << unused) >> unused);
  }
  std::size_t cell(memory_array const& a, std::int64_t address) const;
  void write_bits(memory_array const& a, std::int64_t address, std::uint64_t bits);
  std::uint64_t read_bits(memory_array const& a, std::int64_t address) const;

  std::vector<memory_array> types_;
  std::vector<std::vector<std::uint64_t>> cells_; // of each array, as the bits of literals
};

} // namespace overdub
