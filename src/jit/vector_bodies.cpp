#include "vector_bodies.hpp"

#include "affine_index.hpp"
#include "lanes.hpp"
#include "memory_access.hpp"
#include "scalars.hpp"

#include <overdub/implementation/ir/operands.hpp>

namespace overdub::jit {

llvm::Value* in_vector(function_state& fn, value_id v) {
  llvm::Value* const x = fn.scalar(v);
  return x->getType()->isVectorTy() ? x : splat(fn.e, x);
}

llvm::Value*
load_vector(function_state& fn, node_id n, region_id body, llvm::Value* index, llvm::Value* mask) {
  value_id const array = fn.f.operand(n, 0);
  ir::scalar const s = fn.type_of(array).element;
  value const a = fn.get(array);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  llvm::Value* at = nullptr;
  if (!is_read_in_line(fn.f, n, body)) {
    for (std::uint32_t k = 0; k < indices; ++k) {
      llvm::Value* const i = in_vector(fn, fn.f.operand(n, 1 + k));
      at = at == nullptr ? i : fn.b.CreateAdd(fn.b.CreateMul(at, splat(fn.e, a.extent(k))), i);
    }
    auto* const vector = llvm::FixedVectorType::get(fn.e.type(s), 8);
    llvm::Value* const all = llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(fn.b.getInt1Ty(), 8));
    return fn.b.CreateMaskedGather(
        vector, element_address(fn.e, s, a.elements(), at), llvm::Align(execute::size_of(s)),
        mask == nullptr ? all : mask, llvm::Constant::getNullValue(vector));
  }
  int coefficient = 0;
  for (std::uint32_t k = 0; k < indices; ++k) {
    value_id const i = fn.f.operand(n, 1 + k);
    int const by = *coefficient_in(fn.f, i, body);
    llvm::Value* const base = base_in(fn, i, body);
    llvm::Value* const whole = by == 0  ? base
                               : by > 0 ? fn.b.CreateAdd(base, index)
                                        : fn.b.CreateSub(base, index);
    if (by != 0) coefficient = by;
    at = at == nullptr ? whole : fn.b.CreateAdd(fn.b.CreateMul(at, a.extent(k)), whole);
  }
  bool const is_reversed = coefficient < 0;
  if (is_reversed) at = fn.b.CreateSub(at, fn.e.integer(7));
  llvm::Value* const from = element_address(fn.e, s, a.elements(), at);
  if (coefficient == 0) return splat(fn.e, load_scalar(fn.e, s, from));
  if (is_reversed && mask != nullptr) mask = fn.b.CreateVectorReverse(mask);
  auto* const vector = llvm::FixedVectorType::get(fn.e.type(s), 8);
  llvm::Align const align(execute::size_of(s));
  llvm::Instruction* const x =
      mask == nullptr
          ? static_cast<llvm::Instruction*>(fn.b.CreateAlignedLoad(vector, from, align))
          : fn.b.CreateMaskedLoad(vector, from, align, mask, llvm::Constant::getNullValue(vector));
  fn.e.scopes.set_on(x, ir::nothing);
  return is_reversed ? fn.b.CreateVectorReverse(x) : x;
}

void emit_in_vector(function_state& fn, node_id n) {
  ir::op const code = fn.f[n].code;
  parts x;
  for (value_id const v : fn.f.operands_of(n)) x.push_back(in_vector(fn, v));
  if (code == ir::op::convert)
    fn.set(
        fn.f.result(n),
        converted(fn, fn.type_of(fn.f.operand(n, 0)).element, fn.type_of(fn.f.result(n)).element, x[0]));
  else
    fn.set(
        fn.f.result(n),
        elementwise(fn, code, fn.type_of(fn.f.operand(n, ir::main_operand(code))).element, x));
}

void store_vectors(
    function_state& fn, std::vector<output> const& outputs, llvm::Value* index, llvm::Value* mask) {
  for (output const& o : outputs) {
    ir::scalar const t = fn.type_of(o.result).element;
    llvm::Value* const to = element_address(fn.e, t, o.made.elements(), index);
    llvm::Value* const x = in_vector(fn, o.yielded);
    llvm::Align const align(execute::size_of(t));
    if (mask == nullptr)
      fn.b.CreateAlignedStore(x, to, align);
    else
      fn.b.CreateMaskedStore(x, to, align, mask);
  }
}

parts add_vectors(
    function_state& fn, std::vector<summed> const& sums, llvm::ArrayRef<llvm::Value*> lanes,
    llvm::Value* mask) {
  parts next;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    llvm::Value* x = in_vector(fn, sums[k].yielded);
    if (mask != nullptr) x = fn.b.CreateSelect(mask, x, no_lanes(fn.e, fn.type_of(sums[k].result).element));
    next.push_back(fn.b.CreateFAdd(lanes[k], x));
  }
  return next;
}

} // namespace overdub::jit
