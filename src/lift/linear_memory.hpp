// Linear memory: for functions whose pointers cannot be followed to one array each, as those with structs, pointers in memory, and heap
// objects. A pointer is an address in bytes, as in machine code, and memory is typed: there is one array for each type of cell, and a cell is
// at address / size of its array. Each cell of an integer that is set has the bytes that memory has natively: a store unsets the cells of
// other widths that it overlaps, a floating-point number marks the integer of its address and width, and copies and fills write the cells of
// all types. Loads check that the memory was written by the same type: a cell that was not written has a value that loads reject, and a
// floating-point number is marked, or its bytes are 0. Anything else would be another result than that of machine code, and is an error of
// the run.
#pragma once

#include "memory.hpp"

#include <llvm/ADT/DenseSet.h>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace overdub::lifting {

/// The bits of an integer cell that was not written. Those of narrow integers are out of their range.
inline constexpr std::uint64_t unset_integer = 0x8b1d'5e7a'93c4'6f21;
std::uint64_t unset_bits(element_type const& cell);
/// The bits of an integer cell whose bytes are a floating-point number.
inline constexpr std::uint64_t floating_mark = unset_integer + 1;

/// The words of the allocator, which are cells of 64 bits: the end of the last block, and the last block. A block begins with two words,
/// the block before it, and whether it is allocated.
inline constexpr std::int64_t end_word = 1, last_word = 2;
inline constexpr std::uint64_t first_address = 64, block_alignment = 16;

/// The memory of a module.
struct linear_layout {
  std::vector<element_type>
      cells; // of each array; the first one has words, which are integers of 64 bits and pointers
  llvm::DenseMap<llvm::GlobalValue const*, std::uint64_t> address; // of functions and constants
  std::vector<std::map<std::uint64_t, std::uint64_t>> values;         // by array: the cells of constants
  std::uint64_t end = first_address;                                  // of the constants

  std::optional<std::uint32_t> array_of(element_type const& cell) const;
};

/// A scalar in a type, and its offset in bytes.
struct scalar_in_type {
  llvm::Type* type;
  std::uint64_t offset;
};
/// The scalars of a type, in order.
std::vector<scalar_in_type> scalars_of(llvm::Type* t, llvm::DataLayout const& layout);

/// The cells of a scalar in memory; none for other types.
std::optional<element_type> cell_type(llvm::Type const* t);
/// The array of memory for a type. Requires linear memory.
std::optional<std::uint32_t> cell_of(function_memory const& memory, llvm::Type const* t);

/// The name of the access type of alias information, which clang attaches to loads, stores and copies; empty if there is none.
std::string_view accessed_type(llvm::MDNode const* tag);
/// Whether a load or store is one that may be of an object of any type, as one of characters and of members of unions.
bool is_of_any_type(llvm::Instruction const& i);
/// The arrays that a load or store accesses, its own first; the marks of floating-point numbers; and the integers of other widths that a
/// store overlaps.
std::vector<std::uint32_t> arrays_of(llvm::Instruction const& i, function_memory const& memory);

/// Functions of the standard libraries that allocate and release.
enum class allocation : std::uint8_t { none, allocate, allocate_zeros, release };
allocation allocation_of(llvm::CallBase const& call);
/// Whether a call is of a function without definition that does not return, as one that throws or aborts.
bool is_abort(llvm::CallBase const& call);

/// Whether a constant is a virtual table, or a table of them.
bool is_virtual_table(llvm::GlobalVariable const& g);

/// Gives each function whose address is used an address, in the order of functions_with_address. They have no cells.
void place_functions(linear_layout& layout, llvm::Module const& m);

/// The address of a constant; none if it has none.
std::optional<std::int64_t>
address_of(llvm::Constant const& c, linear_layout const& layout, llvm::DataLayout const& data);

/// Checks a function for linear memory, and adds its constants and cells to the layout. Throws refusal.
void check_linear(llvm::Function const& f, linear_layout& layout, lift_options const& o);

/// The memory of a function in linear memory, by the effects of its callees.
function_memory linear_memory_of(
    llvm::Function const& f, linear_layout const& layout,
    llvm::DenseMap<llvm::Function const*, memory_effect> const& effects);

/// What a function does with memory, by the effects of its callees.
memory_effect
effect_of(llvm::Function const& f, llvm::DenseMap<llvm::Function const*, memory_effect> const& effects);

} // namespace overdub::lifting
