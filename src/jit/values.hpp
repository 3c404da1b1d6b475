// Values in registers: scalars have one part, arrays have {elements, owner, extents}.
#pragma once

#include "llvm.hpp"

#include <overdub/execute/code.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <vector>

namespace overdub::jit {

using execute::words_of;
using ir::function_id;
using ir::node_id;
using ir::region_id;
using ir::value_id;

using value_ids = std::vector<value_id>;
using parts = llvm::SmallVector<llvm::Value*, 3>;

/// A value in registers.
struct value {
  parts all{};

  llvm::Value* elements() const { return all[0]; }
  llvm::Value* owner() const { return all[1]; }
  llvm::Value* extent(std::uint32_t axis) const { return all[2 + axis]; }
};

/// The register type of a scalar.
llvm::Type* scalar_type(llvm::LLVMContext&, ir::scalar);
/// The types of a value's parts: one for a scalar or a function value; elements, owner and extents of an array.
void append_types(llvm::LLVMContext&, ir::type, llvm::SmallVectorImpl<llvm::Type*>&);
/// The return type for these results: void, a part, or a struct of parts.
llvm::Type* result_type(llvm::LLVMContext&, llvm::ArrayRef<ir::type> results);

} // namespace overdub::jit
