#include "memory_access.hpp"

namespace overdub::jit {

llvm::Type* type_in_memory(emitter& e, ir::scalar s) {
  return s == ir::scalar::boolean ? e.b.getInt8Ty() : e.type(s);
}

llvm::Value* load_scalar(emitter& e, ir::scalar s, llvm::Value* from, value_id accumulator) {
  auto* const x = e.b.CreateAlignedLoad(type_in_memory(e, s), from, llvm::Align(execute::size_of(s)));
  e.scopes.set_on(x, accumulator);
  return s == ir::scalar::boolean ? e.b.CreateICmpNE(x, e.b.getInt8(0)) : x;
}

void store_scalar(emitter& e, ir::scalar s, llvm::Value* x, llvm::Value* to, value_id accumulator) {
  if (s == ir::scalar::boolean) x = e.b.CreateZExt(x, e.b.getInt8Ty());
  e.scopes.set_on(e.b.CreateAlignedStore(x, to, llvm::Align(execute::size_of(s))), accumulator);
}

llvm::Value* element_address(emitter& e, ir::scalar s, llvm::Value* elements, llvm::Value* index) {
  return e.b.CreateGEP(type_in_memory(e, s), elements, index);
}

llvm::Value* byte_offset(emitter& e, llvm::Value* p, std::int64_t bytes) {
  if (bytes == 0) return p;
  return e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), p, static_cast<std::uint64_t>(bytes));
}

void store_words(emitter& e, ir::type t, value const& x, llvm::Value* to) {
  for (std::size_t k = 0; k < x.all.size(); ++k) {
    llvm::Value* part = x.all[k];
    if (t.rank == 0 && t.element == ir::scalar::boolean) part = e.b.CreateZExt(part, e.b.getInt64Ty());
    e.b.CreateAlignedStore(part, byte_offset(e, to, 8 * static_cast<std::int64_t>(k)), llvm::Align(8));
  }
}

value load_words(emitter& e, ir::type t, llvm::Value* from) {
  llvm::SmallVector<llvm::Type*, 4> types;
  append_types(e.context, t, types);
  value x;
  for (std::size_t k = 0; k < types.size(); ++k) {
    bool const is_bool = types[k]->isIntegerTy(1);
    llvm::Value* part = e.b.CreateAlignedLoad(
        is_bool ? e.b.getInt64Ty() : types[k], byte_offset(e, from, 8 * static_cast<std::int64_t>(k)),
        llvm::Align(8));
    x.all.push_back(is_bool ? e.b.CreateICmpNE(part, e.b.getInt64(0)) : part);
  }
  return x;
}

llvm::ConstantInt* shape_code(emitter& e, ir::type t) {
  return e.b.getInt32(std::uint32_t{t.rank} << 16 | execute::size_of(t.element));
}

} // namespace overdub::jit
