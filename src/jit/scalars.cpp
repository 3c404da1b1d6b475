// Element-wise operations on scalars, or on vectors of them, with the semantics of call/native.hpp and core/ops.def.
#include "function.hpp"

#include <overdub/call/special_table.hpp>
#include <overdub/implementation/execute/compute.hpp>
#include <overdub/implementation/ir/sine_and_cosine.hpp>

#include <utility>

namespace overdub::jit {

void function_compiler::compile_elementwise(node_id n) {
  value_id const result = f_.result(n);
  ir::op const code = f_[n].code;
  auto const rule = ir::row_of(code).types;
  if (code == ir::op::select && is_reference_counted(type_of(result))) {
    llvm::Value* const which = scalar(f_.operand(n, 0));
    value const x = get(f_.operand(n, 1)), y = get(f_.operand(n, 2));
    value chosen;
    for (std::size_t k = 0; k < x.all.size(); ++k)
      chosen.all.push_back(b_.CreateSelect(which, x.all[k], y.all[k]));
    for (std::uint32_t k = 1; k <= 2; ++k) mark_shared(f_.operand(n, k));
    set(result, std::move(chosen));
    retain(result);
    return;
  }
  if (node_id const other = other_of_sine_and_cosine(n); other != ir::nothing) {
    if (order_.is_before(n, other)) compile_sine_and_cosine(n, other);
    return; // else the other one computed this result, too
  }
  llvm::SmallVector<llvm::Value*, 3> x;
  for (value_id const v : f_.operands_of(n)) x.push_back(scalar(v));
  // The operand that determines the type.
  bool const second = rule == ir::type_rule::select || rule == ir::type_rule::integer_floating;
  set(result, elementwise(code, type_of(f_.operand(n, second)).element, x));
}

// The cosine for a sine, or the sine for a cosine, of the same number, if one function computes both.
node_id function_compiler::other_of_sine_and_cosine(node_id n) const {
  bool const is_one_call = p_.math == ir::math_mode::exact && has_sine_and_cosine();
  return is_one_call ? ir::other_of_sine_and_cosine(f_, n) : node_id(ir::nothing);
}
void function_compiler::compile_sine_and_cosine(node_id n, node_id other) {
  if (f_[n].code == ir::op::cos) std::swap(n, other);
  value_id const x = f_.operand(n, 0);
  ir::scalar const s = type_of(x).element;
  llvm::Value *const sine = new_words(1), *const cosine = new_words(1);
  (void)call(declare_sine_and_cosine(*shared_.module, s), {scalar(x), sine, cosine});
  set(f_.result(n), load_scalar(s, sine));
  set(f_.result(other), load_scalar(s, cosine));
}

llvm::Value* function_compiler::intrinsic_call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> x) {
  return b_.CreateCall(intrinsic(*shared_.module, id, {x[0]->getType()}), x);
}

// Vectors are passed to vector versions, in as many pieces as necessary; else number by number to the function that the
// interpreter calls.
llvm::Value* function_compiler::elementary(ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x) {
  if ((code == ir::op::digamma || code == ir::op::polygamma) &&
      overdub::detail::special.digamma_f64 == nullptr)
    refuse(
        "digamma and polygamma are computed with Boost.Math; #include <overdub/special.hpp> in a source of "
        "the program");
  llvm::Function* const f = shared_.elementary.declare(code, s);
  auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(x.back()->getType());
  if (vector == nullptr) return call(f, x);
  unsigned const lanes = vector->getNumElements();
  unsigned width = lanes;
  if (llvm::Function* const on_vectors = shared_.elementary.declare_vector(code, s, width)) {
    parts pieces;
    for (unsigned first = 0; first < lanes; first += width) {
      llvm::SmallVector<int, 8> piece;
      for (unsigned i = 0; i < width; ++i) piece.push_back(static_cast<int>(first + i));
      llvm::SmallVector<llvm::Value*, 2> each;
      for (llvm::Value* const operand : x)
        each.push_back(width == lanes ? operand : b_.CreateShuffleVector(operand, piece));
      pieces.push_back(call(on_vectors, each));
    }
    return llvm::concatenateVectors(b_, pieces);
  }
  llvm::Value* all = llvm::PoisonValue::get(llvm::FixedVectorType::get(f->getReturnType(), lanes));
  for (unsigned i = 0; i < lanes; ++i) {
    llvm::SmallVector<llvm::Value*, 3> each;
    for (llvm::Value* const operand : x) each.push_back(b_.CreateExtractElement(operand, i));
    all = b_.CreateInsertElement(all, call(f, each), i);
  }
  return all;
}

llvm::Value* function_compiler::divided(ir::op code, llvm::Value* x, llvm::Value* y) {
  llvm::Type* const t = y->getType();
  auto* const zero = llvm::Constant::getNullValue(t);
  auto* const minus_one = llvm::Constant::getAllOnesValue(t);
  require(b_.CreateICmpNE(y, zero), runtime_function::throw_division, {});
  llvm::Value* const negates = b_.CreateICmpEQ(y, minus_one);
  // The least integer divided by -1 would trap in the processor.
  llvm::Value* const divisor = b_.CreateSelect(negates, llvm::ConstantInt::get(t, 1), y);
  if (code == ir::op::rem) return b_.CreateSelect(negates, zero, b_.CreateSRem(x, divisor));
  return b_.CreateSelect(negates, b_.CreateNeg(x), b_.CreateSDiv(x, divisor));
}

llvm::Value* function_compiler::integral(ir::op code, llvm::ArrayRef<llvm::Value*> x) {
  auto const width = [&] { return llvm::ConstantInt::get(x[1]->getType(), 63); };
  bool const is_bool = x[0]->getType()->getScalarType()->isIntegerTy(1);
  auto const less = [&](llvm::Value* a, llvm::Value* b) {
    return is_bool ? b_.CreateICmpULT(a, b) : b_.CreateICmpSLT(a, b);
  };
  switch (code) {
  case ir::op::neg:
    return b_.CreateNeg(x[0]);
  case ir::op::add:
    return b_.CreateAdd(x[0], x[1]);
  case ir::op::sub:
    return b_.CreateSub(x[0], x[1]);
  case ir::op::mul:
    return b_.CreateMul(x[0], x[1]);
  case ir::op::div:
  case ir::op::rem:
    return divided(code, x[0], x[1]);
  case ir::op::abs:
    return b_.CreateSelect(
        less(x[0], llvm::Constant::getNullValue(x[0]->getType())), b_.CreateNeg(x[0]), x[0]);
  case ir::op::min:
    return b_.CreateSelect(less(x[1], x[0]), x[1], x[0]);
  case ir::op::max:
    return b_.CreateSelect(less(x[0], x[1]), x[1], x[0]);
  case ir::op::clamp:
    return b_.CreateSelect(less(x[0], x[1]), x[1], b_.CreateSelect(less(x[2], x[0]), x[2], x[0]));
  case ir::op::eq:
    return b_.CreateICmpEQ(x[0], x[1]);
  case ir::op::ne:
    return b_.CreateICmpNE(x[0], x[1]);
  case ir::op::lt:
    return less(x[0], x[1]);
  case ir::op::le:
    return b_.CreateNot(less(x[1], x[0]));
  case ir::op::gt:
    return less(x[1], x[0]);
  case ir::op::ge:
    return b_.CreateNot(less(x[0], x[1]));
  case ir::op::logical_and:
  case ir::op::bit_and:
    return b_.CreateAnd(x[0], x[1]);
  case ir::op::logical_or:
  case ir::op::bit_or:
    return b_.CreateOr(x[0], x[1]);
  case ir::op::bit_xor:
    return b_.CreateXor(x[0], x[1]);
  case ir::op::logical_not:
  case ir::op::bit_not:
    return b_.CreateNot(x[0]);
  case ir::op::shift_left:
    return b_.CreateShl(x[0], b_.CreateAnd(x[1], width()));
  case ir::op::shift_right:
    return b_.CreateAShr(x[0], b_.CreateAnd(x[1], width()));
  default:
    refuse("the operation " + std::string(ir::name_of(code)) + " is not known here on integers");
  }
}

llvm::Value* function_compiler::floating(ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x) {
  using llvm::Intrinsic::ID;
  llvm::Type* const t = x[0]->getType();
  auto const magnitude = [&] { return intrinsic_call(llvm::Intrinsic::fabs, x[0]); };
  auto const infinity = [&] { return llvm::ConstantFP::getInfinity(t); };
  switch (code) {
  case ir::op::neg:
    return b_.CreateFNeg(x[0]);
  case ir::op::add:
    return b_.CreateFAdd(x[0], x[1]);
  case ir::op::sub:
    return b_.CreateFSub(x[0], x[1]);
  case ir::op::mul:
    return b_.CreateFMul(x[0], x[1]);
  case ir::op::div:
    return b_.CreateFDiv(x[0], x[1]);
  case ir::op::strong_mul:
  case ir::op::strong_div: {
    llvm::Value* const zero = llvm::ConstantFP::get(t, 0.0);
    llvm::Value* const r = code == ir::op::strong_mul ? b_.CreateFMul(x[0], x[1]) : b_.CreateFDiv(x[0], x[1]);
    return b_.CreateSelect(b_.CreateFCmpOEQ(x[0], zero), zero, r);
  }
  case ir::op::abs:
    return magnitude();
  case ir::op::min:
    return b_.CreateSelect(b_.CreateFCmpOLT(x[1], x[0]), x[1], x[0]);
  case ir::op::max:
    return b_.CreateSelect(b_.CreateFCmpOLT(x[0], x[1]), x[1], x[0]);
  case ir::op::fmin:
    return b_.CreateSelect(
        b_.CreateOr(b_.CreateFCmpUNO(x[1], x[1]), b_.CreateFCmpOLE(x[0], x[1])), x[0], x[1]);
  case ir::op::fmax:
    return b_.CreateSelect(
        b_.CreateOr(b_.CreateFCmpUNO(x[1], x[1]), b_.CreateFCmpOGE(x[0], x[1])), x[0], x[1]);
  case ir::op::clamp:
    return b_.CreateSelect(
        b_.CreateFCmpOLT(x[0], x[1]), x[1], b_.CreateSelect(b_.CreateFCmpOLT(x[2], x[0]), x[2], x[0]));
  case ir::op::eq:
    return b_.CreateFCmpOEQ(x[0], x[1]);
  case ir::op::ne:
    return b_.CreateFCmpUNE(x[0], x[1]);
  case ir::op::lt:
    return b_.CreateFCmpOLT(x[0], x[1]);
  case ir::op::le:
    return b_.CreateFCmpOLE(x[0], x[1]);
  case ir::op::gt:
    return b_.CreateFCmpOGT(x[0], x[1]);
  case ir::op::ge:
    return b_.CreateFCmpOGE(x[0], x[1]);
  case ir::op::isnan:
    return b_.CreateFCmpUNO(x[0], x[0]);
  case ir::op::isinf:
    return b_.CreateFCmpOEQ(magnitude(), infinity());
  case ir::op::isfinite:
    return b_.CreateFCmpONE(magnitude(), infinity());
  case ir::op::signbit: {
    llvm::Type* bits = s == ir::scalar::f32 ? b_.getInt32Ty() : b_.getInt64Ty();
    if (auto* const vector = llvm::dyn_cast<llvm::VectorType>(t))
      bits = llvm::VectorType::get(bits, vector->getElementCount());
    return b_.CreateICmpSLT(b_.CreateBitCast(x[0], bits), llvm::Constant::getNullValue(bits));
  }
  case ir::op::sqrt:
    return intrinsic_call(llvm::Intrinsic::sqrt, x);
  case ir::op::floor:
    return intrinsic_call(llvm::Intrinsic::floor, x);
  case ir::op::ceil:
    return intrinsic_call(llvm::Intrinsic::ceil, x);
  case ir::op::trunc:
    return intrinsic_call(llvm::Intrinsic::trunc, x);
  case ir::op::round:
    return intrinsic_call(llvm::Intrinsic::round, x);
  case ir::op::rint:
    return intrinsic_call(llvm::Intrinsic::rint, x);
  case ir::op::nearbyint:
    return intrinsic_call(llvm::Intrinsic::nearbyint, x);
  case ir::op::copysign:
    return intrinsic_call(llvm::Intrinsic::copysign, x);
  case ir::op::fma:
    return intrinsic_call(llvm::Intrinsic::fma, x);
  default:
    return elementary(code, s, x);
  }
}

llvm::Value* function_compiler::elementwise(ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x) {
  if (code == ir::op::select) return b_.CreateSelect(x[0], x[1], x[2]);
  if (code == ir::op::polygamma || code == ir::op::ldexp) return elementary(code, s, x);
  return s == ir::scalar::f32 || s == ir::scalar::f64 ? floating(code, s, x) : integral(code, x);
}

llvm::Value* function_compiler::converted(ir::scalar from, ir::scalar to, llvm::Value* x) {
  llvm::Type* t = type(to);
  if (auto* const vector = llvm::dyn_cast<llvm::VectorType>(x->getType()))
    t = llvm::VectorType::get(t, vector->getElementCount());
  bool const is_floating = from == ir::scalar::f32 || from == ir::scalar::f64;
  bool const to_floating = to == ir::scalar::f32 || to == ir::scalar::f64;
  if (from == to) return x;
  if (to == ir::scalar::boolean) {
    auto* const zero = llvm::Constant::getNullValue(x->getType());
    return is_floating ? b_.CreateFCmpUNE(x, zero) : b_.CreateICmpNE(x, zero);
  }
  if (is_floating && to_floating)
    return to == ir::scalar::f64 ? b_.CreateFPExt(x, t) : b_.CreateFPTrunc(x, t);
  if (is_floating)
    return b_.CreateCall(intrinsic(*shared_.module, llvm::Intrinsic::fptosi_sat, {t, x->getType()}), x);
  if (from == ir::scalar::boolean) return to_floating ? b_.CreateUIToFP(x, t) : b_.CreateZExt(x, t);
  return b_.CreateSIToFP(x, t);
}

} // namespace overdub::jit
