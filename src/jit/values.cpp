#include "values.hpp"

namespace overdub::jit {

llvm::Type* scalar_type(llvm::LLVMContext& c, ir::scalar s) {
  switch (s) {
  case ir::scalar::boolean:
    return llvm::Type::getInt1Ty(c);
  case ir::scalar::i64:
    return llvm::Type::getInt64Ty(c);
  case ir::scalar::f32:
    return llvm::Type::getFloatTy(c);
  case ir::scalar::f64:
    return llvm::Type::getDoubleTy(c);
  default:
    return pointer_type(c); // a function value
  }
}

void append_types(llvm::LLVMContext& c, ir::type t, llvm::SmallVectorImpl<llvm::Type*>& to) {
  if (t.rank == 0) {
    to.push_back(scalar_type(c, t.element));
    return;
  }
  to.append(2, pointer_type(c));
  to.append(t.rank, llvm::Type::getInt64Ty(c));
}

llvm::Type* result_type(llvm::LLVMContext& c, llvm::ArrayRef<ir::type> results) {
  llvm::SmallVector<llvm::Type*, 4> types;
  for (ir::type const t : results) append_types(c, t, types);
  if (types.empty()) return llvm::Type::getVoidTy(c);
  return types.size() == 1 ? types[0] : llvm::StructType::get(c, types);
}

} // namespace overdub::jit
