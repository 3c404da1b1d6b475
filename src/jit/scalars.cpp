#include "scalars.hpp"

#include "memory_access.hpp"
#include "reference_counts.hpp"

#include <overdub/call/special_table.hpp>
#include <overdub/implementation/ir/sine_and_cosine.hpp>

#include <utility>

namespace overdub::jit {
namespace {

llvm::Value* intrinsic_call(function_state& fn, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> x) {
  return fn.b.CreateCall(intrinsic(fn.e.module(), id, {x[0]->getType()}), x);
}

// Vectors are passed to vector versions, in as many pieces as necessary; else number by number to the function that the
// interpreter calls.
llvm::Value* elementary_call(function_state& fn, ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x) {
  if ((code == ir::op::digamma || code == ir::op::polygamma) &&
      overdub::detail::special.digamma_f64 == nullptr)
    fn.refuse(
        "digamma and polygamma are computed with Boost.Math; #include <overdub/special.hpp> in a source of "
        "the program");
  llvm::Function* const f = fn.program.elementary.declare(code, s);
  auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(x.back()->getType());
  if (vector == nullptr) return fn.e.call(f, x);
  unsigned const lanes = vector->getNumElements();
  unsigned width = lanes;
  if (llvm::Function* const on_vectors = fn.program.elementary.declare_vector(code, s, width)) {
    parts pieces;
    for (unsigned first = 0; first < lanes; first += width) {
      llvm::SmallVector<int, 8> piece;
      for (unsigned i = 0; i < width; ++i) piece.push_back(static_cast<int>(first + i));
      llvm::SmallVector<llvm::Value*, 2> each;
      for (llvm::Value* const operand : x)
        each.push_back(width == lanes ? operand : fn.b.CreateShuffleVector(operand, piece));
      pieces.push_back(fn.e.call(on_vectors, each));
    }
    return llvm::concatenateVectors(fn.b, pieces);
  }
  llvm::Value* all = llvm::PoisonValue::get(llvm::FixedVectorType::get(f->getReturnType(), lanes));
  for (unsigned i = 0; i < lanes; ++i) {
    llvm::SmallVector<llvm::Value*, 3> each;
    for (llvm::Value* const operand : x) each.push_back(fn.b.CreateExtractElement(operand, i));
    all = fn.b.CreateInsertElement(all, fn.e.call(f, each), i);
  }
  return all;
}

llvm::Value* divided(function_state& fn, ir::op code, llvm::Value* x, llvm::Value* y) {
  llvm::Type* const t = y->getType();
  auto* const zero = llvm::Constant::getNullValue(t);
  auto* const minus_one = llvm::Constant::getAllOnesValue(t);
  fn.e.require(fn.b.CreateICmpNE(y, zero), runtime_function::throw_division, {});
  llvm::Value* const negates = fn.b.CreateICmpEQ(y, minus_one);
  // The least integer divided by -1 would trap in the processor.
  llvm::Value* const divisor = fn.b.CreateSelect(negates, llvm::ConstantInt::get(t, 1), y);
  if (code == ir::op::rem) return fn.b.CreateSelect(negates, zero, fn.b.CreateSRem(x, divisor));
  return fn.b.CreateSelect(negates, fn.b.CreateNeg(x), fn.b.CreateSDiv(x, divisor));
}

llvm::Value* floating(function_state& fn, ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x) {
  using llvm::Intrinsic::ID;
  llvm::Type* const t = x[0]->getType();
  auto const magnitude = [&] { return intrinsic_call(fn, llvm::Intrinsic::fabs, x[0]); };
  auto const infinity = [&] { return llvm::ConstantFP::getInfinity(t); };
  switch (code) {
  case ir::op::neg:
    return fn.b.CreateFNeg(x[0]);
  case ir::op::add:
    return fn.b.CreateFAdd(x[0], x[1]);
  case ir::op::sub:
    return fn.b.CreateFSub(x[0], x[1]);
  case ir::op::mul:
    return fn.b.CreateFMul(x[0], x[1]);
  case ir::op::div:
    return fn.b.CreateFDiv(x[0], x[1]);
  case ir::op::strong_mul:
  case ir::op::strong_div: {
    llvm::Value* const zero = llvm::ConstantFP::get(t, 0.0);
    llvm::Value* const r =
        code == ir::op::strong_mul ? fn.b.CreateFMul(x[0], x[1]) : fn.b.CreateFDiv(x[0], x[1]);
    return fn.b.CreateSelect(fn.b.CreateFCmpOEQ(x[0], zero), zero, r);
  }
  case ir::op::abs:
    return magnitude();
  case ir::op::min:
    return fn.b.CreateSelect(fn.b.CreateFCmpOLT(x[1], x[0]), x[1], x[0]);
  case ir::op::max:
    return fn.b.CreateSelect(fn.b.CreateFCmpOLT(x[0], x[1]), x[1], x[0]);
  case ir::op::fmin:
    return fn.b.CreateSelect(
        fn.b.CreateOr(fn.b.CreateFCmpUNO(x[1], x[1]), fn.b.CreateFCmpOLE(x[0], x[1])), x[0], x[1]);
  case ir::op::fmax:
    return fn.b.CreateSelect(
        fn.b.CreateOr(fn.b.CreateFCmpUNO(x[1], x[1]), fn.b.CreateFCmpOGE(x[0], x[1])), x[0], x[1]);
  case ir::op::clamp:
    return fn.b.CreateSelect(
        fn.b.CreateFCmpOLT(x[0], x[1]), x[1], fn.b.CreateSelect(fn.b.CreateFCmpOLT(x[2], x[0]), x[2], x[0]));
  case ir::op::eq:
    return fn.b.CreateFCmpOEQ(x[0], x[1]);
  case ir::op::ne:
    return fn.b.CreateFCmpUNE(x[0], x[1]);
  case ir::op::lt:
    return fn.b.CreateFCmpOLT(x[0], x[1]);
  case ir::op::le:
    return fn.b.CreateFCmpOLE(x[0], x[1]);
  case ir::op::gt:
    return fn.b.CreateFCmpOGT(x[0], x[1]);
  case ir::op::ge:
    return fn.b.CreateFCmpOGE(x[0], x[1]);
  case ir::op::isnan:
    return fn.b.CreateFCmpUNO(x[0], x[0]);
  case ir::op::isinf:
    return fn.b.CreateFCmpOEQ(magnitude(), infinity());
  case ir::op::isfinite:
    return fn.b.CreateFCmpONE(magnitude(), infinity());
  case ir::op::signbit: {
    llvm::Type* bits = s == ir::scalar::f32 ? fn.b.getInt32Ty() : fn.b.getInt64Ty();
    if (auto* const vector = llvm::dyn_cast<llvm::VectorType>(t))
      bits = llvm::VectorType::get(bits, vector->getElementCount());
    return fn.b.CreateICmpSLT(fn.b.CreateBitCast(x[0], bits), llvm::Constant::getNullValue(bits));
  }
  case ir::op::sqrt:
    return intrinsic_call(fn, llvm::Intrinsic::sqrt, x);
  case ir::op::floor:
    return intrinsic_call(fn, llvm::Intrinsic::floor, x);
  case ir::op::ceil:
    return intrinsic_call(fn, llvm::Intrinsic::ceil, x);
  case ir::op::trunc:
    return intrinsic_call(fn, llvm::Intrinsic::trunc, x);
  case ir::op::round:
    return intrinsic_call(fn, llvm::Intrinsic::round, x);
  case ir::op::rint:
    return intrinsic_call(fn, llvm::Intrinsic::rint, x);
  case ir::op::nearbyint:
    return intrinsic_call(fn, llvm::Intrinsic::nearbyint, x);
  case ir::op::copysign:
    return intrinsic_call(fn, llvm::Intrinsic::copysign, x);
  case ir::op::fma:
    return intrinsic_call(fn, llvm::Intrinsic::fma, x);
  default:
    return elementary_call(fn, code, s, x);
  }
}

void emit_sine_and_cosine(function_state& fn, node_id n, node_id other) {
  if (fn.f[n].code == ir::op::cos) std::swap(n, other);
  value_id const x = fn.f.operand(n, 0);
  ir::scalar const s = fn.type_of(x).element;
  llvm::Value *const sine = fn.e.new_words(1), *const cosine = fn.e.new_words(1);
  (void)fn.e.call(declare_sine_and_cosine(fn.e.module(), s), {fn.scalar(x), sine, cosine});
  fn.set(fn.f.result(n), load_scalar(fn.e, s, sine));
  fn.set(fn.f.result(other), load_scalar(fn.e, s, cosine));
}

} // namespace

llvm::Value* integral(function_state& fn, ir::op code, llvm::ArrayRef<llvm::Value*> x) {
  auto const width = [&] { return llvm::ConstantInt::get(x[1]->getType(), 63); };
  bool const is_bool = x[0]->getType()->getScalarType()->isIntegerTy(1);
  auto const less = [&](llvm::Value* a, llvm::Value* b) {
    return is_bool ? fn.b.CreateICmpULT(a, b) : fn.b.CreateICmpSLT(a, b);
  };
  switch (code) {
  case ir::op::neg:
    return fn.b.CreateNeg(x[0]);
  case ir::op::add:
    return fn.b.CreateAdd(x[0], x[1]);
  case ir::op::sub:
    return fn.b.CreateSub(x[0], x[1]);
  case ir::op::mul:
    return fn.b.CreateMul(x[0], x[1]);
  case ir::op::div:
  case ir::op::rem:
    return divided(fn, code, x[0], x[1]);
  case ir::op::abs:
    return fn.b.CreateSelect(
        less(x[0], llvm::Constant::getNullValue(x[0]->getType())), fn.b.CreateNeg(x[0]), x[0]);
  case ir::op::min:
    return fn.b.CreateSelect(less(x[1], x[0]), x[1], x[0]);
  case ir::op::max:
    return fn.b.CreateSelect(less(x[0], x[1]), x[1], x[0]);
  case ir::op::clamp:
    return fn.b.CreateSelect(less(x[0], x[1]), x[1], fn.b.CreateSelect(less(x[2], x[0]), x[2], x[0]));
  case ir::op::eq:
    return fn.b.CreateICmpEQ(x[0], x[1]);
  case ir::op::ne:
    return fn.b.CreateICmpNE(x[0], x[1]);
  case ir::op::lt:
    return less(x[0], x[1]);
  case ir::op::le:
    return fn.b.CreateNot(less(x[1], x[0]));
  case ir::op::gt:
    return less(x[1], x[0]);
  case ir::op::ge:
    return fn.b.CreateNot(less(x[0], x[1]));
  case ir::op::logical_and:
  case ir::op::bit_and:
    return fn.b.CreateAnd(x[0], x[1]);
  case ir::op::logical_or:
  case ir::op::bit_or:
    return fn.b.CreateOr(x[0], x[1]);
  case ir::op::bit_xor:
    return fn.b.CreateXor(x[0], x[1]);
  case ir::op::logical_not:
  case ir::op::bit_not:
    return fn.b.CreateNot(x[0]);
  case ir::op::shift_left:
    return fn.b.CreateShl(x[0], fn.b.CreateAnd(x[1], width()));
  case ir::op::shift_right:
    return fn.b.CreateAShr(x[0], fn.b.CreateAnd(x[1], width()));
  default:
    fn.refuse("the operation " + std::string(ir::name_of(code)) + " is not known here on integers");
  }
}

llvm::Value* elementwise(function_state& fn, ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x) {
  if (code == ir::op::select) return fn.b.CreateSelect(x[0], x[1], x[2]);
  if (code == ir::op::polygamma || code == ir::op::ldexp) return elementary_call(fn, code, s, x);
  return s == ir::scalar::f32 || s == ir::scalar::f64 ? floating(fn, code, s, x) : integral(fn, code, x);
}

llvm::Value* converted(function_state& fn, ir::scalar from, ir::scalar to, llvm::Value* x) {
  llvm::Type* t = fn.e.type(to);
  if (auto* const vector = llvm::dyn_cast<llvm::VectorType>(x->getType()))
    t = llvm::VectorType::get(t, vector->getElementCount());
  bool const is_floating = from == ir::scalar::f32 || from == ir::scalar::f64;
  bool const to_floating = to == ir::scalar::f32 || to == ir::scalar::f64;
  if (from == to) return x;
  if (to == ir::scalar::boolean) {
    auto* const zero = llvm::Constant::getNullValue(x->getType());
    return is_floating ? fn.b.CreateFCmpUNE(x, zero) : fn.b.CreateICmpNE(x, zero);
  }
  if (is_floating && to_floating)
    return to == ir::scalar::f64 ? fn.b.CreateFPExt(x, t) : fn.b.CreateFPTrunc(x, t);
  if (is_floating)
    return fn.b.CreateCall(intrinsic(fn.e.module(), llvm::Intrinsic::fptosi_sat, {t, x->getType()}), x);
  if (from == ir::scalar::boolean) return to_floating ? fn.b.CreateUIToFP(x, t) : fn.b.CreateZExt(x, t);
  return fn.b.CreateSIToFP(x, t);
}

node_id other_of_sine_and_cosine(function_state const& fn, node_id n) {
  bool const is_one_call = fn.p.math == ir::math_mode::exact && has_sine_and_cosine();
  return is_one_call ? ir::other_of_sine_and_cosine(fn.f, n) : node_id(ir::nothing);
}

void emit_elementwise(function_state& fn, node_id n) {
  value_id const result = fn.f.result(n);
  ir::op const code = fn.f[n].code;
  if (code == ir::op::select && ir::is_reference_counted(fn.type_of(result))) {
    llvm::Value* const which = fn.scalar(fn.f.operand(n, 0));
    value const x = fn.get(fn.f.operand(n, 1)), y = fn.get(fn.f.operand(n, 2));
    value chosen;
    for (std::size_t k = 0; k < x.all.size(); ++k)
      chosen.all.push_back(fn.b.CreateSelect(which, x.all[k], y.all[k]));
    retain_owner(fn, chosen.all[fn.type_of(result).rank > 0 ? 1 : 0]);
    fn.set(result, std::move(chosen));
    return;
  }
  if (node_id const other = other_of_sine_and_cosine(fn, n); other != ir::nothing) {
    if (fn.order.is_before(n, other)) emit_sine_and_cosine(fn, n, other);
    return; // else the other one computed this result, too
  }
  llvm::SmallVector<llvm::Value*, 3> x;
  for (value_id const v : fn.f.operands_of(n)) x.push_back(fn.scalar(v));
  fn.set(result, elementwise(fn, code, fn.type_of(fn.f.operand(n, ir::main_operand(code))).element, x));
}

} // namespace overdub::jit
