#include "values.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Operator.h>
#include <string_view>
#include <utility>

namespace overdub::lifting {
namespace {

using ir::op;
using ir::value_id;
using llvm::CmpInst;
using llvm::Instruction;

constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

// ---- functions by name

struct function_row {
  std::string_view name; // of <cmath>; that of an intrinsic begins with llvm.
  op code;
  unsigned operands;
};
constexpr std::array function_rows{
    function_row{"sqrt", op::sqrt, 1},
    function_row{"cbrt", op::cbrt, 1},
    function_row{"pow", op::pow, 2},
    function_row{"hypot", op::hypot, 2},
    function_row{"exp", op::exp, 1},
    function_row{"exp2", op::exp2, 1},
    function_row{"expm1", op::expm1, 1},
    function_row{"log", op::log, 1},
    function_row{"log2", op::log2, 1},
    function_row{"log10", op::log10, 1},
    function_row{"log1p", op::log1p, 1},
    function_row{"sin", op::sin, 1},
    function_row{"cos", op::cos, 1},
    function_row{"tan", op::tan, 1},
    function_row{"asin", op::asin, 1},
    function_row{"acos", op::acos, 1},
    function_row{"atan", op::atan, 1},
    function_row{"atan2", op::atan2, 2},
    function_row{"sinh", op::sinh, 1},
    function_row{"cosh", op::cosh, 1},
    function_row{"tanh", op::tanh, 1},
    function_row{"asinh", op::asinh, 1},
    function_row{"acosh", op::acosh, 1},
    function_row{"atanh", op::atanh, 1},
    function_row{"erf", op::erf, 1},
    function_row{"erfc", op::erfc, 1},
    function_row{"tgamma", op::tgamma, 1},
    function_row{"lgamma", op::lgamma, 1},
    function_row{"fabs", op::abs, 1},
    function_row{"floor", op::floor, 1},
    function_row{"ceil", op::ceil, 1},
    function_row{"trunc", op::trunc, 1},
    function_row{"round", op::round, 1},
    function_row{"nearbyint", op::nearbyint, 1},
    function_row{"rint", op::rint, 1},
    function_row{"fmod", op::fmod, 2},
    function_row{"remainder", op::remainder, 2},
    function_row{"fmin", op::fmin, 2},
    function_row{"fmax", op::fmax, 2},
    function_row{"fdim", op::fdim, 2},
    function_row{"copysign", op::copysign, 2},
    function_row{"nextafter", op::nextafter, 2},
    function_row{"ldexp", op::ldexp, 2},
    function_row{"scalbn", op::ldexp, 2},
    function_row{"scalbln", op::ldexp, 2},
    function_row{"logb", op::logb, 1},
    function_row{"fma", op::fma, 3},
    function_row{"llvm.minnum", op::fmin, 2},
    function_row{"llvm.maxnum", op::fmax, 2},
};

std::optional<known_function> row_called(std::string_view name, bool is_intrinsic) {
  for (function_row const& row : function_rows)
    if (row.name == name || (is_intrinsic && name.starts_with("llvm.") && row.name == name.substr(5)))
      return known_function{row.code, row.operands};
  return {};
}

bool is_floating(llvm::Type const* t) { return t->isDoubleTy() || t->isFloatTy(); }

// ---- integers

value_id logical_shift_right(ir::cursor& c, value_id x, value_id by, unsigned width) {
  if (width < 64) return wrapped(c, c.add(op::shift_right, zero_extended(c, x, width), by), width);
  value_id const top = c.add(op::shift_left, number(c, 1), c.add(op::sub, number(c, 63), by));
  value_id const mask = c.add(op::sub, c.add(op::shift_left, top, number(c, 1)), number(c, 1));
  return c.add(op::bit_and, c.add(op::shift_right, x, by), mask);
}

// Quotient and remainder of 64 bits without signs (H. S. Warren, Hacker's Delight, section 9-3: half of the dividend is divided first).
value_id unsigned_divided(ir::cursor& c, value_id a, value_id b, bool remainder) {
  value_id const is_large = c.add(op::lt, b, number(c, 0)); // then the quotient is 0 or 1
  value_id const half = logical_shift_right(c, a, number(c, 1), 64);
  value_id const divisor = c.add(op::select, is_large, number(c, 1), b);
  value_id const q = c.add(op::shift_left, c.add(op::div, half, divisor), number(c, 1));
  value_id const r = c.add(op::sub, a, c.add(op::mul, q, divisor));
  value_id const is_below = unsigned_less(c, r, divisor), is_smaller = unsigned_less(c, a, b);
  if (remainder) {
    value_id const small = c.add(op::select, is_below, r, c.add(op::sub, r, divisor));
    return c.add(op::select, is_large, c.add(op::select, is_smaller, a, c.add(op::sub, a, b)), small);
  }
  value_id const small = c.add(op::select, is_below, q, c.add(op::add, q, number(c, 1)));
  return c.add(op::select, is_large, c.add(op::select, is_smaller, number(c, 0), number(c, 1)), small);
}

value_id emit_integers(ir::cursor& c, llvm::BinaryOperator const& i, value_id a, value_id b) {
  unsigned const width = width_of(i.getType());
  auto const* const wraps = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&i);
  // Signed overflow is undefined: the result needs no wrap.
  auto const wrap = [&](value_id x) { return wraps && wraps->hasNoSignedWrap() ? x : wrapped(c, x, width); };
  if (width == 1) {
    op const code = i.getOpcode() == Instruction::And  ? op::logical_and
                    : i.getOpcode() == Instruction::Or ? op::logical_or
                                                       : op::ne;
    return c.add(code, a, b);
  }
  switch (i.getOpcode()) {
  case Instruction::Add:
    return wrap(c.add(op::add, a, b));
  case Instruction::Sub:
    return wrap(c.add(op::sub, a, b));
  case Instruction::Mul:
    return wrap(c.add(op::mul, a, b));
  case Instruction::Shl:
    return wrap(c.add(op::shift_left, a, b));
  case Instruction::AShr:
    return c.add(op::shift_right, a, b);
  case Instruction::LShr:
    return logical_shift_right(c, a, b, width);
  case Instruction::And:
    return c.add(op::bit_and, a, b);
  case Instruction::Or:
    return c.add(op::bit_or, a, b);
  case Instruction::Xor:
    return c.add(op::bit_xor, a, b);
  case Instruction::SDiv:
    return c.add(op::div, a, b);
  case Instruction::SRem:
    return c.add(op::rem, a, b);
  default:
    break;
  }
  bool const remainder = i.getOpcode() == Instruction::URem;
  if (width == 64) return unsigned_divided(c, a, b, remainder);
  value_id const x = zero_extended(c, a, width), y = zero_extended(c, b, width);
  return wrapped(c, c.add(remainder ? op::rem : op::div, x, y), width);
}

value_id negated(ir::cursor& c, value_id x) { return c.add(op::logical_not, x); }
value_id is_ordered(ir::cursor& c, value_id a, value_id b) {
  return c.add(op::logical_and, c.add(op::eq, a, a), c.add(op::eq, b, b));
}

// The comparison of integers of 1 bit: of those with a sign, true is -1.
value_id emit_bit_comparison(ir::cursor& c, CmpInst::Predicate how, value_id a, value_id b) {
  switch (how) {
  case CmpInst::ICMP_EQ:
    return c.add(op::eq, a, b);
  case CmpInst::ICMP_NE:
    return c.add(op::ne, a, b);
  case CmpInst::ICMP_ULT:
  case CmpInst::ICMP_SGT:
    return c.add(op::logical_and, negated(c, a), b);
  case CmpInst::ICMP_UGT:
  case CmpInst::ICMP_SLT:
    return c.add(op::logical_and, a, negated(c, b));
  case CmpInst::ICMP_ULE:
  case CmpInst::ICMP_SGE:
    return c.add(op::logical_or, negated(c, a), b);
  default:
    return c.add(op::logical_or, a, negated(c, b));
  }
}

value_id emit_floating_comparison(ir::cursor& c, CmpInst::Predicate how, value_id a, value_id b) {
  switch (how) {
  case CmpInst::FCMP_OEQ:
    return c.add(op::eq, a, b);
  case CmpInst::FCMP_OGT:
    return c.add(op::gt, a, b);
  case CmpInst::FCMP_OGE:
    return c.add(op::ge, a, b);
  case CmpInst::FCMP_OLT:
    return c.add(op::lt, a, b);
  case CmpInst::FCMP_OLE:
    return c.add(op::le, a, b);
  case CmpInst::FCMP_ONE:
    return c.add(op::logical_or, c.add(op::lt, a, b), c.add(op::gt, a, b));
  case CmpInst::FCMP_ORD:
    return is_ordered(c, a, b);
  case CmpInst::FCMP_UNO:
    return negated(c, is_ordered(c, a, b));
  case CmpInst::FCMP_UEQ:
    return negated(c, emit_floating_comparison(c, CmpInst::FCMP_ONE, a, b));
  case CmpInst::FCMP_UGT:
    return negated(c, c.add(op::le, a, b));
  case CmpInst::FCMP_UGE:
    return negated(c, c.add(op::lt, a, b));
  case CmpInst::FCMP_ULT:
    return negated(c, c.add(op::ge, a, b));
  case CmpInst::FCMP_ULE:
    return negated(c, c.add(op::gt, a, b));
  case CmpInst::FCMP_UNE:
    return c.add(op::ne, a, b);
  default:
    return c.literal(how == CmpInst::FCMP_TRUE);
  }
}

// An integer of 64 bits without a sign, rounded once: halves, with the lost bit kept, have a sign.
value_id unsigned_to_floating(ir::cursor& c, value_id x, ir::type to) {
  value_id const half =
      c.add(op::bit_or, logical_shift_right(c, x, number(c, 1), 64), c.add(op::bit_and, x, number(c, 1)));
  value_id const y = c.convert(half, to);
  return c.add(op::select, c.add(op::lt, x, number(c, 0)), c.add(op::add, y, y), c.convert(x, to));
}
// Conversions saturate, and NaN becomes 0, as in programs: later code relies on the range of the type.
value_id floating_to_signed(ir::cursor& c, value_id x, unsigned width) {
  value_id const y = c.convert(x, ir::i64);
  if (width >= 64) return y;
  std::int64_t const high = (std::int64_t{1} << (width - 1)) - 1;
  return c.add(op::clamp, y, number(c, -high - 1), number(c, high));
}
value_id floating_to_unsigned(ir::cursor& c, value_id x, unsigned width) {
  if (width < 64) {
    value_id const high = number(c, (std::int64_t{1} << width) - 1);
    return wrapped(c, c.add(op::clamp, c.convert(x, ir::i64), number(c, 0), high), width);
  }
  bool const is_double = c->type_of(x) == ir::f64;
  value_id const limit = is_double ? c.literal(0x1p63) : c.literal(0x1p63f);
  value_id const high = c.add(op::bit_xor, c.convert(c.add(op::sub, x, limit), ir::i64), number(c, smallest));
  value_id const low = c.add(op::max, c.convert(x, ir::i64), number(c, 0));
  return c.add(op::select, c.add(op::ge, x, limit), high, low);
}

value_id emit_conversion(ir::cursor& c, llvm::CastInst const& i, value_id x) {
  unsigned const from = width_of(i.getSrcTy()), to = width_of(i.getDestTy());
  ir::type const type = scalar_type(i.getDestTy());
  switch (i.getOpcode()) {
  case Instruction::Trunc:
    if (to > 1) return wrapped(c, x, to);
    return c.add(op::ne, c.add(op::bit_and, x, number(c, 1)), number(c, 0));
  case Instruction::ZExt:
    if (from > 1) return zero_extended(c, x, from);
    return c.add(op::select, x, number(c, 1), number(c, 0));
  case Instruction::SExt:
    return from > 1 ? x : c.add(op::select, x, number(c, -1), number(c, 0));
  case Instruction::FPToSI:
  case Instruction::FPToUI:
    if (to == 1) return c.add(op::ne, c.convert(x, ir::i64), number(c, 0));
    return i.getOpcode() == Instruction::FPToSI ? floating_to_signed(c, x, to)
                                                : floating_to_unsigned(c, x, to);
  case Instruction::SIToFP:
    return from > 1 ? c.convert(x, type) : c.convert(c.add(op::select, x, number(c, -1), number(c, 0)), type);
  case Instruction::UIToFP:
    if (from == 64) return unsigned_to_floating(c, x, type);
    if (from == 1) return c.convert(c.add(op::select, x, number(c, 1), number(c, 0)), type);
    return c.convert(zero_extended(c, x, from), type);
  case Instruction::BitCast: // of bits, the sign alone is compared
    return is_sign_test(i) ? c.add(op::select, c.add(op::signbit, x), number(c, -1), number(c, 0)) : x;
  default:
    return c->type_of(x) == type ? x : c.convert(x, type);
  }
}

// The number of ones (H. S. Warren, Hacker's Delight, section 5-1).
value_id population_count(ir::cursor& c, value_id x) {
  auto const mask = [&](std::uint64_t bits) { return number(c, static_cast<std::int64_t>(bits)); };
  auto const shifted = [&](value_id v, std::int64_t by) {
    return logical_shift_right(c, v, number(c, by), 64);
  };
  x = c.add(op::sub, x, c.add(op::bit_and, shifted(x, 1), mask(0x5555555555555555)));
  x = c.add(
      op::add, c.add(op::bit_and, x, mask(0x3333333333333333)),
      c.add(op::bit_and, shifted(x, 2), mask(0x3333333333333333)));
  x = c.add(op::bit_and, c.add(op::add, x, shifted(x, 4)), mask(0x0f0f0f0f0f0f0f0f));
  return shifted(c.add(op::mul, x, mask(0x0101010101010101)), 56);
}
value_id trailing_zeros(ir::cursor& c, value_id x, unsigned width) {
  // The ones of the bits below the lowest one.
  value_id const below = c.add(op::bit_and, c.add(op::bit_not, x), c.add(op::sub, x, number(c, 1)));
  return population_count(c, zero_extended(c, below, width));
}
value_id leading_zeros(ir::cursor& c, value_id x, unsigned width) {
  x = zero_extended(c, x, width);
  for (std::int64_t by = 1; by < width; by *= 2)
    x = c.add(op::bit_or, x, logical_shift_right(c, x, number(c, by), 64));
  return c.add(op::sub, number(c, width), population_count(c, x));
}

bool is_integer_intrinsic(llvm::Intrinsic::ID id) {
  switch (id) {
  case llvm::Intrinsic::abs:
  case llvm::Intrinsic::smin:
  case llvm::Intrinsic::smax:
  case llvm::Intrinsic::umin:
  case llvm::Intrinsic::umax:
  case llvm::Intrinsic::ctpop:
  case llvm::Intrinsic::cttz:
  case llvm::Intrinsic::ctlz:
    return true;
  default:
    return false;
  }
}
value_id emit_integer_intrinsic(ir::cursor& c, llvm::CallBase const& i, std::span<value_id const> x) {
  unsigned const width = width_of(i.getType());
  switch (i.getIntrinsicID()) {
  case llvm::Intrinsic::abs:
    return wrapped(c, c.add(op::abs, x[0]), width);
  case llvm::Intrinsic::smin:
    return c.add(op::min, x[0], x[1]);
  case llvm::Intrinsic::smax:
    return c.add(op::max, x[0], x[1]);
  case llvm::Intrinsic::umin:
    return c.add(op::select, unsigned_less(c, x[1], x[0]), x[1], x[0]);
  case llvm::Intrinsic::umax:
    return c.add(op::select, unsigned_less(c, x[0], x[1]), x[1], x[0]);
  case llvm::Intrinsic::ctpop:
    return population_count(c, zero_extended(c, x[0], width));
  case llvm::Intrinsic::cttz:
    return trailing_zeros(c, x[0], width);
  default:
    return leading_zeros(c, x[0], width);
  }
}
bool is_expectation(llvm::Intrinsic::ID id) {
  return id == llvm::Intrinsic::expect || id == llvm::Intrinsic::expect_with_probability;
}

// llvm.is.fpclass, which LLVM 15 does not have: the classes of <cmath>, as masks.
struct class_test {
  op code;
  bool negated;
};
std::optional<class_test> class_test_of(llvm::CallBase const& call) {
  llvm::Function const* const callee = call.getCalledFunction();
  if (!callee || !std::string_view(callee->getName()).starts_with("llvm.is.fpclass.")) return {};
  constexpr std::uint64_t nan = 0x3, infinity = 0x204, finite = 0x1f8, all = 0x3ff;
  std::uint64_t const mask = llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue() & all;
  for (auto const& [code, classes] :
       {std::pair(op::isnan, nan), {op::isinf, infinity}, {op::isfinite, finite}}) {
    if (mask == classes) return class_test{code, false};
    if (mask == (all ^ classes)) return class_test{code, true};
  }
  return {};
}

std::string problem_of_call(llvm::CallBase const& call) {
  llvm::Intrinsic::ID const id = call.getIntrinsicID();
  if (known_function_of(call) || is_expectation(id) || id == llvm::Intrinsic::fmuladd) return {};
  if (is_integer_intrinsic(id) && width_of(call.getType()) > 1) return {};
  if (class_test_of(call)) return {};
  llvm::Function const* const callee = call.getCalledFunction();
  return "a call of " + (callee ? callee->getName().str() : std::string("an unknown function"));
}

value_id emit_call(ir::cursor& c, llvm::CallBase const& call, std::span<value_id const> operands) {
  if (auto const known = known_function_of(call))
    return c->result(c.insert(known->code, operands.first(known->operands)));
  if (is_expectation(call.getIntrinsicID())) return operands[0];
  if (call.getIntrinsicID() == llvm::Intrinsic::fmuladd) // two operations: without contraction
    return c.add(op::add, c.add(op::mul, operands[0], operands[1]), operands[2]);
  if (auto const test = class_test_of(call)) {
    value_id const is = c.add(test->code, operands[0]);
    return test->negated ? negated(c, is) : is;
  }
  return emit_integer_intrinsic(c, call, operands);
}

value_id emit_floating(ir::cursor& c, unsigned opcode, value_id a, value_id b) {
  switch (opcode) {
  case Instruction::FAdd:
    return c.add(op::add, a, b);
  case Instruction::FSub:
    return c.add(op::sub, a, b);
  case Instruction::FMul:
    return c.add(op::mul, a, b);
  case Instruction::FDiv:
    return c.add(op::div, a, b);
  default:
    return c.add(op::fmod, a, b);
  }
}

} // namespace

ir::type scalar_type(llvm::Type const* t) {
  if (t->isDoubleTy()) return ir::f64;
  if (t->isFloatTy()) return ir::f32;
  if (t->isPointerTy()) return ir::i64;
  if (t->isIntegerTy(1)) return ir::boolean;
  if (t->isIntegerTy() && t->getIntegerBitWidth() <= 64) return ir::i64;
  return {};
}

bool has_pointers(llvm::Function const& f) {
  return llvm::any_of(f.args(), [](llvm::Argument const& a) { return a.getType()->isPointerTy(); });
}

std::vector<llvm::Type const*> result_types(llvm::Function const& f) {
  llvm::Type const* const t = f.getReturnType();
  if (t->isVoidTy()) return {};
  if (!t->isStructTy()) return {t};
  return {t->subtype_begin(), t->subtype_end()};
}

std::vector<llvm::Value const*> returned_scalars(llvm::ReturnInst const& i) {
  llvm::Value const* const x = i.getReturnValue();
  if (!x) return {};
  if (!x->getType()->isStructTy()) return {x};
  std::vector<llvm::Value const*> all;
  for (unsigned k = 0; k < x->getType()->getStructNumElements(); ++k)
    all.push_back(llvm::FindInsertedValue(const_cast<llvm::Value*>(x), {k}));
  return all;
}

unsigned width_of(llvm::Type const* t) { return t->isIntegerTy() ? t->getIntegerBitWidth() : 64; }

value_id zero_of(ir::cursor& c, ir::type t) { return c.literal(t, 0); }

value_id literal_of(ir::cursor& c, llvm::Constant const& x) {
  ir::type const type = scalar_type(x.getType());
  if (auto const* integer = llvm::dyn_cast<llvm::ConstantInt>(&x))
    return type == ir::boolean ? c.literal(!integer->isZero()) : number(c, integer->getSExtValue());
  if (auto const* floating = llvm::dyn_cast<llvm::ConstantFP>(&x))
    return c.literal(type, floating->getValueAPF().bitcastToAPInt().getZExtValue());
  return zero_of(c, type);
}

std::optional<std::int64_t> known_number(ir::cursor const& c, value_id x) {
  if (!c->is_literal(x)) return {};
  return static_cast<std::int64_t>(c->bits_of(x));
}

value_id wrapped(ir::cursor& c, value_id x, unsigned width) {
  if (width >= 64) return x;
  auto const unused = static_cast<std::int64_t>(64 - width);
  if (auto const known = known_number(c, x))
    return number(c, static_cast<std::int64_t>(static_cast<std::uint64_t>(*known) << unused) >> unused);
  return c.add(op::shift_right, c.add(op::shift_left, x, number(c, unused)), number(c, unused));
}

value_id zero_extended(ir::cursor& c, value_id x, unsigned width) {
  if (width >= 64) return x;
  std::int64_t const mask = (std::int64_t{1} << width) - 1;
  if (auto const known = known_number(c, x)) return number(c, *known & mask);
  return c.add(op::bit_and, x, number(c, mask));
}

value_id unsigned_less(ir::cursor& c, value_id a, value_id b) {
  auto const moved = [&](value_id x) {
    if (auto const known = known_number(c, x)) return number(c, *known ^ smallest);
    return c.add(op::bit_xor, x, number(c, smallest));
  };
  return c.add(op::lt, moved(a), moved(b));
}

value_id compared(ir::cursor& c, CmpInst::Predicate how, value_id a, value_id b) {
  switch (how) {
  case CmpInst::ICMP_EQ:
    return c.add(op::eq, a, b);
  case CmpInst::ICMP_NE:
    return c.add(op::ne, a, b);
  case CmpInst::ICMP_SLT:
    return c.add(op::lt, a, b);
  case CmpInst::ICMP_SLE:
    return c.add(op::le, a, b);
  case CmpInst::ICMP_SGT:
    return c.add(op::gt, a, b);
  case CmpInst::ICMP_SGE:
    return c.add(op::ge, a, b);
  case CmpInst::ICMP_ULT:
    return unsigned_less(c, a, b);
  case CmpInst::ICMP_ULE:
    return negated(c, unsigned_less(c, b, a));
  case CmpInst::ICMP_UGT:
    return unsigned_less(c, b, a);
  default:
    return negated(c, unsigned_less(c, a, b));
  }
}

std::optional<known_function> known_function_of(llvm::CallBase const& call) {
  llvm::Function const* const callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || !is_floating(call.getType())) return {};
  std::string_view name = callee->getName();
  if (callee->isIntrinsic()) {
    name = name.substr(0, name.find('.', std::string_view("llvm.").size())); // types follow
  } else if (call.getType()->isFloatTy()) {
    if (!name.ends_with('f') || name == "erf") return {};
    name.remove_suffix(1);
  }
  auto const row = row_called(name, callee->isIntrinsic());
  if (!row || row->operands != call.arg_size()) return {};
  for (unsigned k = 0; k < row->operands; ++k) {
    llvm::Type const* const type = call.getArgOperand(k)->getType();
    bool const is_exponent = row->code == op::ldexp && k == 1;
    if (is_exponent ? width_of(type) < 32 || scalar_type(type) != ir::i64 : type != call.getType()) return {};
  }
  return row;
}

bool is_sign_test(llvm::CastInst const& i) {
  if (i.getOpcode() != Instruction::BitCast || !is_floating(i.getSrcTy()) || !i.getDestTy()->isIntegerTy())
    return false;
  return llvm::all_of(i.users(), [&](llvm::User const* u) {
    auto const* const compare = llvm::dyn_cast<llvm::ICmpInst>(u);
    auto const* const zero = compare ? llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1)) : nullptr;
    return zero && zero->isZero() && compare->getOperand(0) == &i &&
           compare->getPredicate() == CmpInst::ICMP_SLT;
  });
}

std::string problem_of(Instruction const& i) {
  auto const type_problem = [](llvm::Type const* t) {
    std::string text;
    if (!scalar_type(t))
      text = t->isVectorTy() ? "a vector"
             : t->isAggregateType()
                 ? "a struct or array as a value"
                 : "a number that is neither double, float nor an integer of at most 64 bits";
    return text;
  };
  if (std::string problem = type_problem(i.getType()); !problem.empty()) return problem;
  for (llvm::Value const* v : i.operands()) {
    if (v->getType()->isMetadataTy() || (llvm::isa<llvm::CallBase>(i) && llvm::isa<llvm::Function>(v)))
      continue;
    if (std::string problem = type_problem(v->getType()); !problem.empty()) return problem;
  }
  if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i)) return problem_of_call(*call);
  switch (i.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::Shl:
  case Instruction::AShr:
  case Instruction::LShr:
  case Instruction::SDiv:
  case Instruction::SRem:
  case Instruction::UDiv:
  case Instruction::URem:
    return width_of(i.getType()) == 1 ? "arithmetic on bits" : "";
  case Instruction::BitCast:
    if (i.getType() == i.getOperand(0)->getType() || is_sign_test(llvm::cast<llvm::CastInst>(i))) return {};
    return "the bits of a number as another type";
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FRem:
  case Instruction::FNeg:
  case Instruction::ICmp:
  case Instruction::FCmp:
  case Instruction::Select:
  case Instruction::Freeze:
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::FPTrunc:
  case Instruction::FPExt:
    return {};
  default:
    return std::string("the instruction ") + i.getOpcodeName();
  }
}

value_id emit_scalar(ir::cursor& c, Instruction const& i, std::span<value_id const> operands) {
  if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i)) return emit_call(c, *call, operands);
  if (auto const* compare = llvm::dyn_cast<llvm::ICmpInst>(&i)) {
    llvm::Type const* const type = compare->getOperand(0)->getType();
    if (type->isIntegerTy(1))
      return emit_bit_comparison(c, compare->getPredicate(), operands[0], operands[1]);
    // A pointer before the first element has a negative index.
    CmpInst::Predicate const how =
        type->isPointerTy() ? compare->getSignedPredicate() : compare->getPredicate();
    return compared(c, how, operands[0], operands[1]);
  }
  if (auto const* compare = llvm::dyn_cast<llvm::FCmpInst>(&i))
    return emit_floating_comparison(c, compare->getPredicate(), operands[0], operands[1]);
  if (auto const* cast = llvm::dyn_cast<llvm::CastInst>(&i)) return emit_conversion(c, *cast, operands[0]);
  if (i.getOpcode() == Instruction::Select) return c.add(op::select, operands[0], operands[1], operands[2]);
  if (i.getOpcode() == Instruction::Freeze) return operands[0];
  if (i.getOpcode() == Instruction::FNeg) return c.add(op::neg, operands[0]);
  auto const& binary = llvm::cast<llvm::BinaryOperator>(i);
  if (is_floating(i.getType())) return emit_floating(c, i.getOpcode(), operands[0], operands[1]);
  return emit_integers(c, binary, operands[0], operands[1]);
}

} // namespace overdub::lifting
