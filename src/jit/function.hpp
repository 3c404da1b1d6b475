// The compilation of a function of a program to an LLVM function. Analyses of the function yield data; the emission
// walks over its operations (operations.hpp).
#pragma once

#include "emitter.hpp"
#include "program.hpp"
#include "refuse.hpp"
#include "values.hpp"

#include <overdub/implementation/ir/in_place.hpp>
#include <overdub/implementation/ir/known_in_range.hpp>
#include <overdub/implementation/ir/reference_counts.hpp>
#include <overdub/implementation/ir/use_order.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace overdub::jit {

/// The destination of a nested map's elements: the row at the enclosing map's index.
struct row_place {
  llvm::Value *elements, *extent;
  value_id index;
};

/// What the emission of a function's operations shares.
struct function_state {
  function_state(program_state& program, function_id id);

  ir::type type_of(value_id v) const { return f.type_of(v); }
  value get(value_id v) const { return f.is_literal(v) ? value{{literal(v)}} : values[index_of(v)]; }
  llvm::Value* scalar(value_id v) const { return get(v).all[0]; }
  llvm::Constant* literal(value_id v) const;
  llvm::Value* owner_of(value_id v) const { return values[index_of(v)].all[type_of(v).rank > 0 ? 1 : 0]; }
  void set(value_id v, value x) { values[index_of(v)] = std::move(x); }
  void set(value_id v, llvm::Value* x) { values[index_of(v)] = value{{x}}; }
  /// The number of an operation, for the runtime.
  llvm::ConstantInt* number(ir::op code) { return b.getInt32(static_cast<std::uint32_t>(code)); }
  [[noreturn]] void refuse(std::string const& why) const { refuser{p, id}(why); }

  program_state& program;
  ir::program const& p;
  function_id const id;
  ir::function const& f;

  // Analyses of the function.
  ir::use_order const order;
  ir::in_place_arrays const in_place;
  ir::reference_counts const counts;

  // The state of its emission.
  emitter e;
  llvm::IRBuilder<>& b;                       // the emitter's
  std::vector<value> values;                  // for each value
  std::vector<std::optional<row_place>> rows; // for each value: the destination of the map that creates it
  std::vector<llvm::Value*> reduced; // for each operation: a reduction that was computed with its map
  ir::known_in_range in_range;       // the accesses that need no check
};

/// Compiles a function of the program.
void compile_function(program_state&, function_id);

} // namespace overdub::jit
