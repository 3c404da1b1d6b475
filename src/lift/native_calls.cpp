#include "native_calls.hpp"

#include "linear_memory.hpp"
#include "prepare.hpp"
#include "values.hpp"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Function.h>

namespace overdub::lifting {
namespace {

bool is_number(llvm::Type const& t) { return !t.isPointerTy() && (t.isIntegerTy(1) || cell_type(&t)); }

bool is_callable(llvm::Function const& f) {
  if (!f.isDeclaration() || f.isIntrinsic() || f.isVarArg() || f.doesNotReturn() ||
      f.hasFnAttribute(llvm::Attribute::ReturnsTwice) || f.getCallingConv() != llvm::CallingConv::C)
    return false;
  if (!f.getReturnType()->isVoidTy() && !is_number(*f.getReturnType())) return false;
  return llvm::all_of(f.args(), [](llvm::Argument const& a) { return is_number(*a.getType()); });
}

// Callers extend narrow integers by their signedness.
std::string type_in_cpp(llvm::Type const& t, bool is_unsigned) {
  if (t.isVoidTy()) return "void";
  if (t.isDoubleTy()) return "double";
  if (t.isFloatTy()) return "float";
  unsigned const bits = t.getIntegerBitWidth();
  return bits == 1 ? "bool" : (is_unsigned ? "std::uint" : "std::int") + std::to_string(bits) + "_t";
}

bool is_pure(llvm::Function const& f) {
  return f.doesNotAccessMemory() && f.doesNotThrow() && f.hasFnAttribute(llvm::Attribute::WillReturn);
}

} // namespace

bool is_native_call(llvm::CallBase const& call) {
  llvm::Function const* const f = call.getCalledFunction();
  return f && is_callable(*f) && f->getFunctionType() == call.getFunctionType() && !is_ignored(call) &&
         !is_requirement(call) && allocation_of(call) == allocation::none && !problem_of(call).empty();
}

called_native describe_native(llvm::Function const& f) {
  called_native made{f.getName().str(), llvm::demangle(f.getName().str()), {}, {}};
  for (llvm::Argument const& a : f.args())
    made.parameters.push_back(type_in_cpp(*a.getType(), a.hasZExtAttr()));
  made.result = type_in_cpp(*f.getReturnType(), f.hasRetAttribute(llvm::Attribute::ZExt));
  return made;
}

void emit_native_call(environment& e, llvm::CallBase const& call) {
  llvm::Function const& f = *call.getCalledFunction();
  ir::attributes a = ir::attributes::of(e.c.owner().intern(llvm::demangle(f.getName().str())));
  a.effects = is_pure(f) ? effect::pure : effect::ordered;
  std::vector<ir::value_id> operands;
  for (llvm::Value const* v : call.args()) operands.push_back(e[v]);
  std::vector<ir::type> results;
  if (!f.getReturnType()->isVoidTy()) results.push_back(scalar_type(f.getReturnType()));
  ir::node_id const n = e.c.insert(ir::op::host, operands, results, a);
  if (!results.empty()) e.set(&call, e.c->result(n));
}

} // namespace overdub::lifting
