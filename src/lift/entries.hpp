// Entries: functions with arrays as parameters, which run a function in linear memory. There is one for a function whose pointers are arrays
// of numbers of one type each, though it uses structs or heap memory inside.
#pragma once

#include "plan.hpp"

#include <overdub/ir/program.hpp>

#include <vector>

namespace overdub::lifting {

/// A parameter of an entry.
struct entry_parameter {
  enum class kind : std::uint8_t { scalar, array, structure };
  kind is = kind::scalar;
  parameter_use array;
  std::vector<scalar_in_type>
      fields; // structure: a struct that is passed by value in memory; each scalar in it is a parameter
};

/// A function in linear memory, and how the entry passes its parameters.
struct entry {
  std::uint32_t function = 0; // in module_plan::functions
  std::vector<entry_parameter> parameters;
  ir::function_id id = ir::nothing;
};

/// The entries of a module: for functions without a plan with arrays. O(instructions × depth of calls).
std::vector<entry> find_entries(module_plan const& plan);

/// Adds the function of an entry to a program, without its body.
void declare_entry(ir::program& p, module_plan const& plan, entry& e, std::string const& name);
/// Emits its body: it copies the arrays to memory, calls the function, and returns copies of those that the function may write.
void emit_entry(ir::program& p, module_plan const& plan, entry const& e);

} // namespace overdub::lifting
