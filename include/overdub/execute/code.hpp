// A lowered program: what the interpreter reads. It is not changed after it is made, and threads share it.
#pragma once

#include <overdub/execute/abi.hpp>
#include <overdub/execute/host.hpp>
#include <overdub/execute/instruction.hpp>
#include <overdub/ir/type.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace overdub::inline OVERDUB_EXECUTE_ABI::execute {

class machine;

/// The words of a frame in front of its parameters. Where it returns to nothing, its results stay in it, and the run ends.
inline constexpr offset return_at = 0, return_frame = word_size, previous_limit = 2 * word_size,
                        first_parameter = 3 * word_size;

struct function_code {
  std::uint32_t entry = 0; // the number of its first instruction
  offset frame_bytes = 0;
  offset parameter_words = 0;
  offset literals = 0; // where they stand in the frame
  std::uint32_t first_literal = 0;
  std::uint32_t literal_count = 0;
  std::vector<offset> results;   // where each stands in the frame when it gives them back
  std::vector<offset> owners;    // the words of its parameters that own buffers, from the first parameter
  std::vector<offset> functions; // those of them that are function values
};

struct host_call {
  host_function const* callee = nullptr; // of the program's copy
  std::vector<ir::type> parameters, results;
};
struct sample_call {
  std::string address, distribution;
  std::size_t indices = 0;
  std::vector<ir::type> parameters;
  ir::type result;
};

/// What compiled code throws in front of a loop where it finds that an index will be out of range. It has done nothing then that
/// is seen outside: the program is run once more, by the interpreter, which comes to the operation that fails.
struct fails_ahead {};

struct code {
  std::vector<instruction> instructions;
  std::vector<function_code> functions; // the first is the entry
  std::vector<offset> lists;            // operands of instructions that have many
  std::vector<std::uint64_t> literals;
  std::vector<std::string> texts; // of asserts
  std::uint32_t thunks = 0; // functions that were made for function values which become ones of another type
  std::vector<host_call> hosts;
  std::vector<sample_call> samples;
  host_registry registry; // what hosts and samples refer to

  std::uint32_t launch = 0; // the instruction that the entry returns to, which says where results go
  std::string name;
  std::vector<ir::type> parameters, results;
  std::vector<std::string> parameter_names;

  // Of compiled programs, whose only instructions call `compiled`: it reads the parameters in the frame, and writes the
  // results to where the entry returns to.
  void (*compiled)(std::byte* frame, machine* m) = nullptr;
  // Of a function on scalars: its address, for C++. It returns one result; several it writes, a word each, to where an
  // argument behind the others points to.
  void* target = nullptr;
  std::shared_ptr<void const> machine_code; // which lives as long as this
  // The same program for the interpreter, made when it is first asked for; of programs that may throw fails_ahead.
  std::function<code const&()> interpreted;
};

/// The words that a value takes.
constexpr offset words_of(ir::type t) { return t.rank > 0 ? 2 + offset{t.rank} : 1; }
/// The bytes of a scalar in an array.
constexpr offset size_of(ir::scalar s) {
  return s == ir::scalar::boolean ? 1 : s == ir::scalar::f32 ? 4 : word_size;
}
/// Whether values of a type share counted buffers.
constexpr bool is_counted(ir::type t) { return t.rank > 0 || t.element == ir::scalar::function; }

} // namespace overdub::inline OVERDUB_EXECUTE_ABI::execute
