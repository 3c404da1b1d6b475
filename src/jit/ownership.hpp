// The ownership of parameters, over all functions of a program.
#pragma once

#include <overdub/ir/calls.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <vector>

namespace overdub::jit {

/// The parameters that a function owns: the caller transfers references to them. The others are borrowed.
class ownership {
public:
  ownership(ir::program const& p, ir::call_components const& calls);
  bool owns(ir::function_id f, std::uint32_t parameter) const { return owned_[index_of(f)][parameter]; }
  /// Whether any function of a function type owns the parameter.
  bool owns(ir::type function, std::uint32_t parameter) const { return of_type_[function.index][parameter]; }

private:
  bool look_at(ir::program const& p, ir::function_id f);
  bool look_at_closure(ir::function const& f, ir::node_id n);
  bool takes(ir::function const& f, ir::use_id u) const;

  std::vector<std::vector<bool>> owned_;
  std::vector<std::vector<bool>> of_type_; // by the index of the type
};

} // namespace overdub::jit
