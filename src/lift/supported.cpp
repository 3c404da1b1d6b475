#include "supported.hpp"

#include "linear_memory.hpp"
#include "native_calls.hpp"
#include "prepare.hpp"
#include "refusal.hpp"
#include "values.hpp"

#include <algorithm>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <string>

namespace overdub::lifting {
namespace {

void check_signature(llvm::Function const& f, bool in_memory) {
  if (f.isVarArg())
    refuse(
        nullptr, "a variable number of arguments", "functions of programs have fixed parameters",
        "pass an array and its length");
  for (llvm::Type const* result : result_types(f)) {
    if (result->isPointerTy() && !in_memory)
      refuse(
          nullptr, "a pointer as result",
          "a pointer is an index into an array of the caller, which the function does not know",
          "return an index, or write to an argument");
    if (!scalar_type(result))
      refuse(
          nullptr, "a vector or other number as result",
          "results are double, float, bool, integers of at most 64 bits, and structs of them",
          "write it through a pointer to numbers");
  }
  for (llvm::Argument const& a : f.args())
    if (!scalar_type(a.getType()))
      refuse(
          nullptr, "a struct, vector or other number as parameter",
          "parameters are numbers, or pointers to numbers", "pass the fields one by one");
}

void check_call(llvm::CallBase const& call) {
  if (is_ignored(call) && !llvm::isa<llvm::InvokeInst>(call)) return;
  if (llvm::isa<llvm::MemIntrinsic>(call) || is_requirement(call)) return;
  if (llvm::isa<llvm::CallInst>(call) && allocation_of(call) != allocation::none) return;
  if (call.isInlineAsm())
    refuse(&call, "inline assembly", "it has no meaning in a program", "write it in C++");
  if (!llvm::isa<llvm::CallInst>(call))
    refuse(
        &call, "a call whose exceptions the function catches",
        "the callee is not defined in the module, calls itself or through a pointer, or is long, or the type "
        "of an "
        "exception is not known where it is thrown",
        "declare the callee noexcept, or return whether it failed");
  llvm::Function const* const callee = call.getCalledFunction();
  if (!callee && call.getFunctionType()->isVarArg())
    refuse(
        &call, "a call through a pointer, with a variable number of arguments",
        "functions of programs have fixed parameters",
        "declare the parameters; pass an array and its length");
  if (!callee)
    refuse(
        &call, "a call through a pointer", "no function of that type has an address in the module",
        "compile the functions that it may point to into the same module, or call the function by its name");
  if (callee->getFunctionType() != call.getFunctionType())
    refuse(
        &call, "a call with other types than those of the function", "its behaviour is undefined",
        "declare the function as it is defined");
  if (!callee->isDeclaration()) return;
  if (problem_of(call).empty() || is_native_call(call)) return;
  if (callee->getName() == "__dynamic_cast")
    refuse(
        &call, "dynamic_cast", "objects have addresses of virtual tables, and no descriptions of their types",
        "call a virtual function");
  refuse(
      &call, "a call of " + llvm::demangle(callee->getName().str()), "the module has no definition of it",
      "compile its source into the same module; functions of numbers alone may be native");
}

// Structs are returned in registers: the callee inserts the scalars before it returns, and the caller extracts them after the call.
bool is_part_of_result(llvm::Instruction const& i) {
  if (auto const* end = llvm::dyn_cast<llvm::ReturnInst>(&i))
    return std::ranges::all_of(returned_scalars(*end), [](auto const* v) { return v; });
  if (auto const* part = llvm::dyn_cast<llvm::ExtractValueInst>(&i)) {
    auto const* const call = llvm::dyn_cast<llvm::CallBase>(part->getAggregateOperand());
    return call && call->getParent() == i.getParent() && part->getNumIndices() == 1 &&
           call->getCalledFunction() &&
           (!call->getCalledFunction()->isDeclaration() || is_native_call(*call));
  }
  if (!llvm::isa<llvm::InsertValueInst>(i)) return false;
  return std::ranges::all_of(i.users(), [&](llvm::User const* u) {
    return llvm::cast<llvm::Instruction>(u)->getParent() == i.getParent() &&
           (llvm::isa<llvm::InsertValueInst>(u) || llvm::isa<llvm::ReturnInst>(u));
  });
}

// Constants are numbers, and pointers into variables.
void check_constant(llvm::Constant const& c, llvm::Instruction const& at) {
  auto const* const expression = llvm::dyn_cast<llvm::ConstantExpr>(&c);
  if (!expression) return;
  if (!llvm::isa<llvm::GEPOperator>(expression) || !scalar_type(c.getType()))
    refuse(
        &at, "a constant that depends on an address", "addresses are not those of native code",
        "use pointers");
  for (llvm::Value const* part : expression->operands())
    check_constant(*llvm::cast<llvm::Constant>(part), at);
}
void check_operands(llvm::Instruction const& i) {
  auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
  if (call && (is_ignored(*call) || is_abort(*call))) return;
  for (llvm::Value const* v : i.operands())
    if (auto const* c = llvm::dyn_cast<llvm::Constant>(v)) check_constant(*c, i);
}

void check_instruction(llvm::Instruction const& i) {
  check_operands(i);
  if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i)) return check_call(*call);
  if (is_part_of_result(i) || llvm::isa<llvm::BranchInst>(i) || llvm::isa<llvm::UnreachableInst>(i)) return;
  if (i.isTerminator() || i.isEHPad())
    refuse(
        &i, std::string("the instruction ") + i.getOpcodeName(),
        "exceptions and computed jumps are not lifted",
        "use ordinary branches, or compile with -fno-exceptions");
  if (llvm::isa<llvm::AllocaInst>(i) || llvm::isa<llvm::StoreInst>(i)) return;
  if (llvm::isa<llvm::PtrToIntInst>(i) || llvm::isa<llvm::IntToPtrInst>(i)) {
    if (i.getType()->isPointerTy() ? i.getOperand(0)->getType()->isIntegerTy(64)
                                   : i.getType()->isIntegerTy(64))
      return;
    refuse(&i, "a part of an address as a number", "addresses are not those of native code", "use indices");
  }
  if (llvm::isa<llvm::LoadInst>(i) || llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::GetElementPtrInst>(i)) {
    if (!scalar_type(i.getType()))
      refuse(
          &i, "a struct, vector or other number as a value",
          "values are double, float, bool, pointers, or integers of at most 64 bits",
          "use its fields one by one");
    return;
  }
  std::string const problem = problem_of(i);
  if (!problem.empty())
    refuse(
        &i, problem, "programs have no operation for it",
        "use arithmetic on double, float, bool and integers of at most 64 bits");
}

} // namespace

void check_supported(llvm::Function const& f, bool in_memory) {
  check_signature(f, in_memory);
  for (llvm::Instruction const& i : llvm::instructions(f)) check_instruction(i);
}

} // namespace overdub::lifting
