#include "complex_numbers.hpp"

#include <array>
#include <limits>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace overdub::lifting {
namespace {

using llvm::Value;

struct complex_value {
  Value *real, *imaginary;
};
struct operands {
  Value *a, *b, *c, *d; // a + ib and c + id
};

// Writes the body of a function of two complex numbers.
class body_writer {
public:
  explicit body_writer(llvm::Function& f)
      : f_(f), at_(llvm::BasicBlock::Create(f.getContext(), "", &f)), type_(f.getArg(0)->getType()) {}

  void write_product() { end(product({f_.getArg(0), f_.getArg(1), f_.getArg(2), f_.getArg(3)})); }
  void write_quotient() {
    operands const given{f_.getArg(0), f_.getArg(1), f_.getArg(2), f_.getArg(3)};
    if (type_->isFloatTy()) return end(recovered_quotient(quotient_in_double(given), given));
    operands const x = scaled(given);
    complex_value const plain = if_(
        less(size(x.c), size(x.d)), [&] { return quotient_by_imaginary(x); },
        [&] { return quotient_by_real(x); });
    end(recovered_quotient(plain, x));
  }

private:
  // ---- arithmetic

  Value* number(double x) { return llvm::ConstantFP::get(type_, x); }
  Value* infinity() { return llvm::ConstantFP::getInfinity(type_); }
  Value* plus(Value* x, Value* y) { return at_.CreateFAdd(x, y); }
  Value* minus(Value* x, Value* y) { return at_.CreateFSub(x, y); }
  Value* times(Value* x, Value* y) { return at_.CreateFMul(x, y); }
  Value* over(Value* x, Value* y) { return at_.CreateFDiv(x, y); }
  Value* size(Value* x) { return at_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* signed_as(Value* x, Value* sign) {
    return at_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign);
  }
  Value* less(Value* x, Value* y) { return at_.CreateFCmpOLT(x, y); }
  Value* is_nan(Value* x) { return at_.CreateFCmpUNO(x, x); }
  Value* is_infinite(Value* x) { return at_.CreateFCmpOEQ(size(x), infinity()); }
  Value* is_finite(Value* x) { return less(size(x), infinity()); }
  Value* both(Value* x, Value* y) { return at_.CreateAnd(x, y); }
  Value* either(Value* x, Value* y) { return at_.CreateOr(x, y); }
  // 1 for an infinity and 0 for any other number, with its sign.
  Value* boxed(Value* x) { return signed_as(at_.CreateSelect(is_infinite(x), number(1), number(0)), x); }
  Value* without_nan(Value* x) { return at_.CreateSelect(is_nan(x), signed_as(number(0), x), x); }

  // ---- control flow

  template <class Then, class Otherwise>
  complex_value if_(Value* condition, Then const& then, Otherwise const& otherwise) {
    auto* const first = llvm::BasicBlock::Create(f_.getContext(), "", &f_);
    auto* const second = llvm::BasicBlock::Create(f_.getContext(), "", &f_);
    auto* const next = llvm::BasicBlock::Create(f_.getContext(), "", &f_);
    at_.CreateCondBr(condition, first, second);
    at_.SetInsertPoint(first);
    complex_value const x = then();
    llvm::BasicBlock* const x_from = at_.GetInsertBlock();
    at_.CreateBr(next);
    at_.SetInsertPoint(second);
    complex_value const y = otherwise();
    llvm::BasicBlock* const y_from = at_.GetInsertBlock();
    at_.CreateBr(next);
    at_.SetInsertPoint(next);
    auto const one_of = [&, x_from = x_from, y_from = y_from](Value* one, Value* other) {
      llvm::PHINode* const phi = at_.CreatePHI(one->getType(), 2);
      phi->addIncoming(one, x_from);
      phi->addIncoming(other, y_from);
      return phi;
    };
    Value* const real = one_of(x.real, y.real);
    return {real, one_of(x.imaginary, y.imaginary)};
  }
  void end(complex_value const& x) {
    Value* const half = at_.CreateInsertValue(llvm::PoisonValue::get(f_.getReturnType()), x.real, {0});
    at_.CreateRet(at_.CreateInsertValue(half, x.imaginary, {1}));
  }

  // ---- products

  complex_value product(operands const& x) {
    Value *const ac = times(x.a, x.c), *const bd = times(x.b, x.d), *const ad = times(x.a, x.d),
                 *const bc = times(x.b, x.c);
    complex_value const plain{minus(ac, bd), plus(ad, bc)};
    return if_(
        both(is_nan(plain.real), is_nan(plain.imaginary)),
        [&] {
          Value* const first = either(is_infinite(x.a), is_infinite(x.b));
          Value* const second = either(is_infinite(x.c), is_infinite(x.d));
          Value* const overflows =
              either(either(is_infinite(ac), is_infinite(bd)), either(is_infinite(ad), is_infinite(bc)));
          return if_(
              either(either(first, second), overflows), [&] { return infinite_product(x, first, second); },
              [&] { return plain; });
        },
        [&] { return plain; });
  }
  complex_value infinite_product(operands const& x, Value* first_is_infinite, Value* second_is_infinite) {
    auto const part = [&](Value* number, Value* is_of_infinite) {
      return at_.CreateSelect(is_of_infinite, boxed(number), without_nan(number));
    };
    Value *const a = part(x.a, first_is_infinite), *const b = part(x.b, first_is_infinite);
    Value *const c = part(x.c, second_is_infinite), *const d = part(x.d, second_is_infinite);
    return {
        times(infinity(), minus(times(a, c), times(b, d))),
        times(infinity(), plus(times(a, d), times(b, c)))};
  }

  // ---- quotients

  // Of floats: doubles neither overflow nor underflow.
  complex_value quotient_in_double(operands const& x) {
    auto const wide = [&](Value* v) { return at_.CreateFPExt(v, at_.getDoubleTy()); };
    Value *const a = wide(x.a), *const b = wide(x.b), *const c = wide(x.c), *const d = wide(x.d);
    Value* const square = plus(times(c, c), times(d, d));
    Value* const real = over(plus(times(a, c), times(b, d)), square);
    Value* const imaginary = over(minus(times(b, c), times(a, d)), square);
    return {at_.CreateFPTrunc(real, type_), at_.CreateFPTrunc(imaginary, type_)};
  }
  // All parts are scaled by a power of 2, so that fewer intermediate results overflow or underflow.
  operands scaled(operands const& x) {
    using limits = std::numeric_limits<double>;
    constexpr double big = limits::max() / 2, small = limits::epsilon();
    Value *const a = size(x.a), *const b = size(x.b), *const c = size(x.c), *const d = size(x.d);
    Value* const larger = at_.CreateSelect(less(c, d), d, c);
    auto const is_lost = [&](Value* tiny, Value* other) {
      return both(less(tiny, number(limits::min())), less(other, number(big * small)));
    };
    Value* const loses = both(either(is_lost(a, b), is_lost(b, a)), less(larger, number(big * small)));
    Value* const is_small = either(less(larger, number(small)), loses);
    Value* const up = at_.CreateSelect(is_small, number(1 / small), number(1));
    Value* const scale = at_.CreateSelect(at_.CreateFCmpOGE(larger, number(big)), number(0.5), up);
    return {times(x.a, scale), times(x.b, scale), times(x.c, scale), times(x.d, scale)};
  }
  // y / z * x, where y / z may be subnormal.
  Value* scaled_by_ratio(Value* x, Value* y, Value* z) {
    Value* const ratio = over(y, z);
    Value* const is_normal = at_.CreateFCmpOGT(size(ratio), number(std::numeric_limits<double>::min()));
    auto* const precise = times(x, ratio);
    return at_.CreateSelect(is_normal, precise, times(y, over(x, z)));
  }
  complex_value quotient_by_imaginary(operands const& x) {
    Value* const divisor = plus(times(x.c, over(x.c, x.d)), x.d);
    return {
        over(plus(scaled_by_ratio(x.a, x.c, x.d), x.b), divisor),
        over(minus(scaled_by_ratio(x.b, x.c, x.d), x.a), divisor)};
  }
  complex_value quotient_by_real(operands const& x) {
    Value* const divisor = plus(times(x.d, over(x.d, x.c)), x.c);
    return {
        over(plus(scaled_by_ratio(x.b, x.d, x.c), x.a), divisor),
        over(minus(x.b, scaled_by_ratio(x.a, x.d, x.c)), divisor)};
  }
  complex_value recovered_quotient(complex_value const& plain, operands const& x) {
    Value* const zero = number(0);
    auto const by_zero = [&]() -> complex_value {
      Value* const by = signed_as(infinity(), x.c);
      return {times(by, x.a), times(by, x.b)};
    };
    auto const rotated = [&](Value* factor, operands const& y) -> complex_value {
      return {
          times(factor, plus(times(y.a, y.c), times(y.b, y.d))),
          times(factor, minus(times(y.b, y.c), times(y.a, y.d)))};
    };
    Value* const divides_by_zero = both(
        both(at_.CreateFCmpOEQ(x.c, zero), at_.CreateFCmpOEQ(x.d, zero)),
        at_.CreateNot(both(is_nan(x.a), is_nan(x.b))));
    Value* const is_infinite_by_finite =
        both(either(is_infinite(x.a), is_infinite(x.b)), both(is_finite(x.c), is_finite(x.d)));
    Value* const is_finite_by_infinite =
        both(either(is_infinite(x.c), is_infinite(x.d)), both(is_finite(x.a), is_finite(x.b)));
    return if_(
        both(is_nan(plain.real), is_nan(plain.imaginary)),
        [&] {
          return if_(divides_by_zero, by_zero, [&] {
            return if_(
                is_infinite_by_finite,
                [&] {
                  return rotated(infinity(), {boxed(x.a), boxed(x.b), x.c, x.d});
                },
                [&] {
                  return if_(
                      is_finite_by_infinite,
                      [&] {
                        return rotated(zero, {x.a, x.b, boxed(x.c), boxed(x.d)});
                      },
                      [&] { return plain; });
                });
          });
        },
        [&] { return plain; });
  }

  llvm::Function& f_;
  llvm::IRBuilder<> at_;
  llvm::Type* type_;
};

bool is_of_complex_numbers(llvm::Function const& f, llvm::Type* part) {
  auto const* const result = llvm::dyn_cast<llvm::StructType>(f.getReturnType());
  auto const is_part = [&](llvm::Type const* t) { return t == part; };
  return f.isDeclaration() && result && result->getNumElements() == 2 && f.arg_size() == 4 &&
         llvm::all_of(result->elements(), is_part) && llvm::all_of(f.getFunctionType()->params(), is_part);
}

// The absolute value and the argument of x + iy are functions of <cmath>, by Annex G.
void replace_by_real_function(
    llvm::Module& m, llvm::StringRef name, llvm::StringRef by, bool swaps, llvm::Type* part) {
  llvm::Function* const f = m.getFunction(name);
  if (!f || !f->isDeclaration() || f->getFunctionType() != llvm::FunctionType::get(part, {part, part}, false))
    return;
  llvm::FunctionCallee const callee = m.getOrInsertFunction(by, f->getFunctionType());
  for (llvm::User* const u : llvm::make_early_inc_range(f->users())) {
    auto* const call = llvm::dyn_cast<llvm::CallInst>(u);
    if (!call || call->getCalledOperand() != f || call->getFunctionType() != f->getFunctionType()) continue;
    call->setCalledFunction(callee);
    if (!swaps) continue;
    Value* const real = call->getArgOperand(0);
    call->setArgOperand(0, call->getArgOperand(1));
    call->setArgOperand(1, real);
  }
}

} // namespace

void define_complex_functions(llvm::Module& m) {
  struct kind {
    llvm::Type* part;
    llvm::StringRef product, quotient, absolute, distance, argument, angle;
  };
  llvm::LLVMContext& context = m.getContext();
  for (kind const& k :
       {kind{llvm::Type::getDoubleTy(context), "__muldc3", "__divdc3", "cabs", "hypot", "carg", "atan2"},
        kind{
            llvm::Type::getFloatTy(context), "__mulsc3", "__divsc3", "cabsf", "hypotf", "cargf", "atan2f"}}) {
    auto const define = [&](llvm::StringRef name, void (body_writer::*write)()) {
      llvm::Function* const f = m.getFunction(name);
      if (!f || !is_of_complex_numbers(*f, k.part)) return;
      (body_writer(*f).*write)();
      f->setLinkage(llvm::Function::InternalLinkage);
    };
    define(k.product, &body_writer::write_product);
    define(k.quotient, &body_writer::write_quotient);
    replace_by_real_function(m, k.absolute, k.distance, false, k.part);
    replace_by_real_function(m, k.argument, k.angle, true, k.part);
  }
}

} // namespace overdub::lifting
