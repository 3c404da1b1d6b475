// Which array each pointer of a function points into, what its elements are, and who writes it. A pointer is an array and an index.
#pragma once

#include <overdub/ir/type.hpp>
#include <overdub/lift.hpp>

#include <cstdint>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <vector>

namespace overdub::lifting {

/// The type of the elements of an array, as it is accessed.
struct element_type {
  ir::type type;          // none: it is not known
  std::uint32_t bits = 8; // in memory
  std::uint64_t bytes() const { return bits / 8; }
  bool is_known() const { return bool(type); }
  bool operator==(element_type const&) const = default;
};

/// An array.
struct object {
  enum class kind : std::uint8_t { parameter, local, heap, table, memory };
  kind is = kind::parameter;
  llvm::Value const* base =
      nullptr; // the argument, the alloca, the call that allocates, or the global variable; none of memory
  element_type element;
  std::uint64_t bytes = 0; // local, table: its size
  bool is_written = false;
  bool is_accessed = false;          // also by copies, which do not say what its elements are
  std::vector<std::uint64_t> values; // table: the bits of its elements
  bool starts_at_null =
      false; // heap: a null pointer may have index 0, since no code tells it from the start of the array

  std::uint64_t count() const { return element.is_known() ? bytes / element.bytes() : 0; }
  ir::type type() const { return (element.is_known() ? element.type : ir::f64).array_of(); }
};

/// How a function uses a parameter that is a pointer.
struct parameter_use {
  element_type element;
  bool is_written = false;
  bool is_accessed = false;
  bool operator==(parameter_use const&) const = default;
};
using parameter_uses = llvm::DenseMap<llvm::Argument const*, parameter_use>;

/// What a function or call does with linear memory.
enum class memory_effect : std::uint8_t { none, reads, writes };

/// The arrays of a function.
struct function_memory {
  std::vector<object> objects;                                 // those of parameters first, in their order
  llvm::DenseMap<llvm::Value const*, std::uint32_t> object_of; // each pointer

  /// The array of a pointer, which may be a constant.
  std::uint32_t object_at(llvm::Value const* pointer) const;

  /// Linear memory (linear_memory.hpp): each object is an array of memory, and a pointer is an address.
  bool is_linear = false;
  std::uint64_t frame_bytes = 0;                                  // of the local variables
  llvm::DenseMap<llvm::Value const*, std::uint64_t> frame_offset; // of each alloca
  llvm::DenseMap<llvm::Instruction const*, memory_effect>
      call_effect; // of calls and copies; others have none
};

/// The index of a null pointer, which differs from all indices into arrays.
inline constexpr std::int64_t null_index = std::int64_t{-1} << 62;

/// The constant by which a number is multiplied, and the other factor; none if it is no product.
struct constant_factor {
  llvm::Value const* other = nullptr;
  std::int64_t constant = 1;
};
constant_factor factor_of(llvm::Value const* number);

/// The objects that an instruction reads and writes, by their numbers.
struct accessed_objects {
  std::vector<std::uint32_t> reads, writes;
};
accessed_objects
objects_of(llvm::Instruction const& i, function_memory const& memory, parameter_uses const& parameters);

/// The distance of a pointer from another one into the same array, in elements.
struct pointer_offset {
  struct term {
    llvm::Value const* index;
    std::int64_t scale;
  };
  llvm::Value const* base;
  std::int64_t constant = 0;
  std::vector<term> terms;
};
pointer_offset
offset_of(llvm::GEPOperator const& gep, element_type const& element, llvm::DataLayout const& layout);

/// Whether the arguments of a call do not matter: lifetimes, assumptions, debug information; and functions that do not return.
bool is_ignored(llvm::CallBase const& call);

/// The different types of the scalars in a type; one that is not known for pointers and for what is no element of an array.
std::vector<element_type> elements_in(llvm::Type const& t);
/// Those of the type by which an address is computed; none if it is a number of bytes.
std::vector<element_type> elements_in(llvm::GEPOperator const& gep);
/// Those of what a copy copies, as clang describes it; none if it does not.
std::vector<element_type> elements_in(llvm::MemTransferInst const& copy);

/// The arrays of a function, by the uses of the parameters of its callees. Loads and stores say what the elements of an array are.
/// `by_types`: for other arrays, the types of variables, of copies and of computations of addresses do. Throws refusal.
function_memory
analyse_memory(llvm::Function const& f, parameter_uses const& uses, lift_options const& o, bool by_types);

/// Refuses a function with an array whose elements are not known, though it is accessed.
void check_elements(llvm::Function const& f, function_memory const& memory, parameter_uses const& uses);

/// Tells callees the elements of arrays that they copy alone. Returns the callees whose parameters changed.
std::vector<llvm::Function const*>
pass_elements(llvm::Function const& f, function_memory const& memory, parameter_uses& uses);

/// Updates the uses of the parameters of a function. Returns whether they changed.
bool update_uses(function_memory const& memory, parameter_uses& uses);

/// Whether a call writes the array of a pointer that it receives as argument i.
bool writes_argument(llvm::CallBase const& call, unsigned i, parameter_uses const& uses);

/// Whether what a call writes through a parameter returns to the caller.
bool is_returned(object const& o);

} // namespace overdub::lifting
