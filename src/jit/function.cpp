#include "function.hpp"

#include "memory_access.hpp"
#include "operations.hpp"
#include "reference_counts.hpp"
#include "runtime.hpp"

#include <overdub/implementation/execute/supported_types.hpp>

namespace overdub::jit {

function_state::function_state(program_state& of, function_id which)
    : program(of), p(of.p), id(which), f(p[which]), order(f), in_place(f, order),
      counts(f, order, {of.owners, which, &in_place}),
      e(*of.functions.function_for(which), of.target.unit, p.math), b(e.b), values(f.value_count()),
      rows(f.value_count()), reduced(f.node_count()), in_range(f) {}

llvm::Constant* function_state::literal(value_id v) const {
  std::uint64_t const bits = f.bits_of(v);
  switch (type_of(v).element) {
  case ir::scalar::boolean:
    return b.getInt1(bits != 0);
  case ir::scalar::f32:
    return llvm::ConstantFP::get(
        e.context, llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits & 0xffffffffu)));
  case ir::scalar::f64:
    return llvm::ConstantFP::get(
        e.context, llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits)));
  default:
    return b.getInt64(bits);
  }
}

namespace {

// Recursive functions check the stack limit here.
void emit_prologue(function_state& fn) {
  if (!fn.program.calls.is_recursive(fn.id)) return;
  llvm::Value* const here = fn.b.CreateCall(
      intrinsic(*fn.program.module, llvm::Intrinsic::frameaddress, {fn.e.pointer()}), {fn.b.getInt32(0)});
  llvm::Value* const end = fn.b.CreateAlignedLoad(
      fn.b.getInt64Ty(), byte_offset(fn.e, fn.e.machine(), runtime::stack_end_offset()), llvm::Align(8));
  fn.e.require(
      fn.b.CreateICmpUGE(fn.b.CreatePtrToInt(here, fn.b.getInt64Ty()), end), runtime_function::throw_too_deep,
      {fn.e.machine()});
}

void emit_return(function_state& fn) {
  node_id const last = fn.f.yield_of(ir::function::body);
  parts all;
  for (value const& x : passed_values(fn, last, 0, fn.f[last].operand_count))
    all.append(x.all.begin(), x.all.end());
  release_after(fn, last);
  if (all.empty()) {
    fn.b.CreateRetVoid();
    return;
  }
  if (all.size() == 1) {
    fn.b.CreateRet(all[0]);
    return;
  }
  llvm::Value* together = llvm::PoisonValue::get(fn.e.function.getReturnType());
  for (unsigned k = 0; k < all.size(); ++k) together = fn.b.CreateInsertValue(together, all[k], k);
  fn.b.CreateRet(together);
}

} // namespace

void compile_function(program_state& program, function_id id) {
  function_state fn(program, id);
  fn.e.at(fn.e.new_block("entry"));
  if (program.lines) fn.b.SetCurrentDebugLocation(program.lines->begin(fn.e.function, fn.f));
  // Self-recursive tail calls continue after it: static allocas are in the first block.
  block const start = fn.e.new_block("start");
  unsigned next = 1;
  for (value_id const v : fn.f.parameters()) {
    execute::refuse_unless_supported(fn, fn.type_of(v));
    llvm::SmallVector<llvm::Type*, 4> types;
    append_types(fn.e.context, fn.type_of(v), types);
    value x;
    for (std::size_t k = 0; k < types.size(); ++k) x.all.push_back(fn.e.function.getArg(next++));
    fn.set(v, std::move(x));
  }
  block const entry = fn.b.GetInsertBlock();
  fn.e.at(start);
  emit_prologue(fn);
  emit_region(fn, ir::function::body);
  emit_return(fn);
  fn.e.at(entry);
  fn.e.go(start);
  program.needs.machine = program.needs.machine || fn.e.uses_machine();
}

} // namespace overdub::jit
