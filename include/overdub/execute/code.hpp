// A lowered program: the input of the interpreter. Immutable; threads share it.
#pragma once

#include <overdub/execute/host.hpp>
#include <overdub/execute/instruction.hpp>
#include <overdub/ir/type.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace overdub::execute {

class machine;

/// The words of a frame before its parameters. The entry's frame has no return address: its results stay in it, and the run
/// ends.
inline constexpr offset return_at = 0, return_frame = word_size, previous_limit = 2 * word_size,
                        first_parameter = 3 * word_size;

struct function_code {
  std::uint32_t entry = 0; // the index of its first instruction
  offset frame_bytes = 0;
  offset parameter_words = 0;
  offset literals = 0; // their offset in the frame
  std::uint32_t first_literal = 0;
  std::uint32_t literal_count = 0;
  std::vector<offset> results;   // the offset of each result at the return
  std::vector<offset> owners;    // the words of parameters that own buffers, from the first parameter
  std::vector<offset> functions; // those that are function values
};

struct host_call {
  host_function const* callee = nullptr; // in the program's copy
  std::vector<ir::type> parameters, results;
};
struct sample_call {
  std::string address, distribution;
  std::size_t indices = 0;
  std::vector<ir::type> parameters;
  ir::type result;
};

/// Thrown by compiled code before a loop, when it finds that an index will be out of range. The run has had no side effects
/// by then: the interpreter runs the program again, and reaches the operation that fails.
struct fails_ahead {};

struct code {
  std::vector<instruction> instructions;
  std::vector<function_code> functions; // the first one is the entry
  std::vector<offset> lists;            // operands of instructions with many
  std::vector<std::uint64_t> literals;
  std::vector<std::string> texts; // messages of asserts
  std::uint32_t thunks = 0;       // functions generated for reabstractions
  std::vector<host_call> hosts;
  std::vector<sample_call> samples;
  host_registry registry; // functions of host calls and random choices

  std::uint32_t launch = 0; // the instruction that the entry returns to, with the destinations of results
  std::string name;
  std::vector<ir::type> parameters, results;
  std::vector<std::string> parameter_names;

  // For compiled programs, whose only instruction calls `compiled`: it reads the parameters in the frame, and writes the
  // results to where the entry returns to.
  void (*compiled)(std::byte* frame, machine* m) = nullptr;
  // For a function of scalars: its address for C++. It returns one result; several are written, a word each, to the address
  // in an additional last argument.
  void* target = nullptr;
  std::shared_ptr<void const> machine_code; // keeps the machine code alive
  // The same program for the interpreter, lowered on first use, for programs that may throw fails_ahead.
  std::function<code const&()> interpreted;
};

/// The number of words of a value.
constexpr offset words_of(ir::type t) { return t.rank > 0 ? 2 + offset{t.rank} : 1; }
/// The bytes of a scalar in an array.
constexpr offset size_of(ir::scalar s) {
  return s == ir::scalar::boolean ? 1 : s == ir::scalar::f32 ? 4 : word_size;
}
/// Whether a value of a type has a word that refers to a reference-counted buffer, as an accumulator has, too.
constexpr bool holds_reference(ir::type t) { return t.rank > 0 || t.element == ir::scalar::function; }

} // namespace overdub::execute
