// The values that the variables of a function have where its code is emitted.
#pragma once

#include "plan.hpp"

#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace overdub::lifting {

class environment {
public:
  environment(function_plan const& plan, linear_layout const& layout, ir::cursor& c);

  function_plan const& plan;
  linear_layout const& layout;
  ir::cursor& c;
  ir::value_id frame = ir::nothing; // linear memory: the address of the local variables

  /// The value of a scalar; the index of a pointer, or its address in linear memory.
  ir::value_id operator[](llvm::Value const* v);
  /// The value that a phi has after a block.
  ir::value_id incoming(llvm::PHINode const& phi, llvm::BasicBlock const& before);
  void set(llvm::Value const* v, ir::value_id x);
  /// Sets what a call returns: a scalar, or a struct of scalars, whose parts are taken in the same block.
  void set_results(llvm::CallBase const& call, std::vector<ir::value_id> const& results);

  /// The current value of the array of a pointer.
  ir::value_id array(llvm::Value const* pointer);
  void set_array(llvm::Value const* pointer, ir::value_id x);
  /// The same for an object by its number.
  ir::value_id array_of(std::uint32_t object);
  void set_array_of(std::uint32_t object, ir::value_id x);

  /// The value of a variable; 0 before it is written.
  ir::value_id variable(std::uint32_t v);
  void set_variable(std::uint32_t v, ir::value_id x);
  std::vector<ir::value_id> variables(std::vector<std::uint32_t> const& all);

  /// Undoes what a region did to the variables.
  using mark = std::size_t;
  mark now() const { return log_.size(); }
  void back_to(mark m);

private:
  ir::value_id initial_array(object const& o, std::uint32_t k);
  std::int64_t constant_index(llvm::GEPOperator const& gep) const;

  std::vector<ir::value_id> variables_;
  std::vector<std::pair<std::uint32_t, ir::value_id>> log_; // variables, and their values before
  std::vector<ir::value_id> arrays_;                        // by object: those that do not change
  llvm::DenseMap<llvm::Value const*, ir::value_id> locals_; // values that are used in one block
};

} // namespace overdub::lifting
