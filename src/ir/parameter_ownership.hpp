// The ownership of parameters, over all functions of a program.
#pragma once

#include <overdub/ir/calls.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <vector>

namespace overdub::ir {

/// Whether the values of a type own references to buffers.
constexpr bool is_reference_counted(type t) {
  return (t.rank > 0 || t.element == scalar::function) && !t.is_accumulator;
}

/// Whether an operation may consume a reference to an operand: store it, or write into the buffer if it is the last. Others read it. A call
/// consumes the parameters that the callee owns. O(1).
bool may_consume(function const& f, node_id n, std::uint32_t operand);

/// The parameters that a function owns: the caller transfers references to them. The others are borrowed (Ullrich and de Moura, Counting
/// Immutable Beans, 2019).
class parameter_ownership {
public:
  /// Functions own all their parameters.
  parameter_ownership() = default;
  /// Functions own the parameters that they consume.
  parameter_ownership(program const& p, call_components const& calls);

  bool owns(function_id f, std::uint32_t parameter) const {
    return owned_.empty() || owned_[index_of(f)][parameter];
  }
  /// Whether any function of a function type owns the parameter.
  bool owns(type function, std::uint32_t parameter) const {
    return owned_.empty() || of_type_[function.index][parameter];
  }
  /// Whether an operation consumes a reference to an operand; of a call, whether the callee owns the parameter.
  bool consumes(function const& f, node_id n, std::uint32_t operand) const;

private:
  bool look_at(program const& p, function_id f);
  bool look_at_closure(function const& f, node_id n);

  std::vector<std::vector<bool>> owned_;
  std::vector<std::vector<bool>> of_type_; // by the index of the type
};

} // namespace overdub::ir
