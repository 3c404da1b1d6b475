// Operations on scalars: which of LLVM's are lifted, and how. Integers of less than 64 bits are i64 in programs, sign-extended from their
// width; i1 is bool. Results are those of LLVM's language, to the bit.
#pragma once

#include <overdub/ir/cursor.hpp>

#include <cstdint>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace overdub::lifting {

/// The type of a scalar in programs; none for other types. A pointer is an index, i64.
ir::type scalar_type(llvm::Type const* t);

/// The types of what a function returns: none, one, or the fields of a struct in registers.
std::vector<llvm::Type const*> result_types(llvm::Function const& f);
/// Whether a parameter of a function is a pointer.
bool has_pointers(llvm::Function const& f);
/// The scalars that a return returns.
std::vector<llvm::Value const*> returned_scalars(llvm::ReturnInst const& i);

/// The width of an integer; 64 for a pointer.
unsigned width_of(llvm::Type const* t);

/// The literal of a constant; 0 for an undefined one. Requires a scalar type.
ir::value_id literal_of(ir::cursor& c, llvm::Constant const& x);
/// The literal of an integer or an index.
inline ir::value_id number(ir::cursor& c, std::int64_t x) { return c.literal(x); }
/// The integer that a value is, if it is a literal.
std::optional<std::int64_t> known_number(ir::cursor const& c, ir::value_id x);
/// The literal 0 of a scalar type.
ir::value_id zero_of(ir::cursor& c, ir::type t);
/// The value of an integer of this width: sign-extended.
ir::value_id wrapped(ir::cursor& c, ir::value_id x, unsigned width);
/// An integer of this width as one without a sign: x modulo 2^width.
ir::value_id zero_extended(ir::cursor& c, ir::value_id x, unsigned width);
/// a < b without signs, for sign-extended integers.
ir::value_id unsigned_less(ir::cursor& c, ir::value_id a, ir::value_id b);
/// The comparison of integers, or of indices.
ir::value_id compared(ir::cursor& c, llvm::CmpInst::Predicate how, ir::value_id a, ir::value_id b);

/// The operation that a function of <cmath> or an intrinsic of LLVM computes, if there is one.
struct known_function {
  ir::op code;
  unsigned operands;
};
std::optional<known_function> known_function_of(llvm::CallBase const& call);

/// Whether the bits of a floating-point number are compared with 0 alone, as std::signbit does.
bool is_sign_test(llvm::CastInst const& i);

/// Why an instruction on scalars is not lifted; empty if it is. Branches, memory, pointers and calls of defined functions are not its
/// subject.
std::string problem_of(llvm::Instruction const& i);

/// Emits an instruction on scalars without a problem.
ir::value_id emit_scalar(ir::cursor& c, llvm::Instruction const& i, std::span<ir::value_id const> operands);

} // namespace overdub::lifting
