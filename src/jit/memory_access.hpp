// Loads and stores of scalars in arrays, and of whole values in words of memory.
#pragma once

#include "emitter.hpp"

namespace overdub::jit {

llvm::Type* type_in_memory(emitter&, ir::scalar s);
/// `accumulator`: the accumulator whose element it is; nothing: of none.
llvm::Value*
load_scalar(emitter&, ir::scalar s, llvm::Value* from, value_id accumulator = value_id(ir::nothing));
void store_scalar(
    emitter&, ir::scalar s, llvm::Value* x, llvm::Value* to, value_id accumulator = value_id(ir::nothing));
llvm::Value* element_address(emitter&, ir::scalar s, llvm::Value* elements, llvm::Value* index);
llvm::Value* byte_offset(emitter&, llvm::Value* p, std::int64_t bytes);

void store_words(emitter&, ir::type t, value const& x, llvm::Value* to);
value load_words(emitter&, ir::type t, llvm::Value* from);
/// The rank and the size of a scalar, as the runtime reads them.
llvm::ConstantInt* shape_code(emitter&, ir::type t);

} // namespace overdub::jit
