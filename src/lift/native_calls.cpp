#include "native_calls.hpp"

#include "float_pairs.hpp"
#include "linear_memory.hpp"
#include "prepare.hpp"
#include "values.hpp"

#include <cstdint>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Function.h>
#include <vector>

namespace overdub::lifting {
namespace {

bool is_number(llvm::Type const& t) { return !t.isPointerTy() && (t.isIntegerTy(1) || cell_type(&t)); }

bool is_callable(llvm::Function const& f) {
  if (!f.isDeclaration() || f.isIntrinsic() || f.isVarArg() || f.doesNotReturn() ||
      f.hasFnAttribute(llvm::Attribute::ReturnsTwice) || f.getCallingConv() != llvm::CallingConv::C)
    return false;
  std::vector<llvm::Type const*> const results = result_types(f);
  if (!llvm::all_of(results, [&](llvm::Type const* t) {
        return is_number(*t) && scalar_type(t) == scalar_type(results[0]);
      }))
    return false;
  return llvm::all_of(f.args(), [](llvm::Argument const& a) { return is_number(*a.getType()); });
}

// Callers extend narrow integers by their signedness.
std::string type_in_cpp(llvm::Type const& t, bool is_unsigned) {
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
  for (unsigned k = 0; k < f.arg_size(); ++k) {
    llvm::Argument const& a = *f.getArg(k);
    bool const is_pair = begins_pair(a);
    made.parameters.push_back(is_pair ? "float[2]" : type_in_cpp(*a.getType(), a.hasZExtAttr()));
    if (is_pair) ++k;
  }
  for (llvm::Type const* t : result_types(f))
    made.results.push_back(type_in_cpp(*t, f.hasRetAttribute(llvm::Attribute::ZExt)));
  return made;
}

void emit_native_call(environment& e, llvm::CallBase const& call) {
  llvm::Function const& f = *call.getCalledFunction();
  ir::attributes a = ir::attributes::of(e.c.owner().intern(llvm::demangle(f.getName().str())));
  a.effects = is_pure(f) ? effect::pure : effect::ordered;
  std::vector<ir::value_id> operands;
  for (llvm::Value const* v : call.args()) operands.push_back(e[v]);
  std::vector<llvm::Type const*> const fields = result_types(f);
  std::vector<ir::type> results;
  if (!fields.empty()) results.push_back(scalar_type(fields[0]));
  if (fields.size() > 1) results[0] = results[0].array_of();
  ir::node_id const n = e.c.insert(ir::op::host, operands, results, a);
  std::vector<ir::value_id> values;
  if (fields.size() == 1) values.push_back(e.c->result(n));
  for (std::size_t k = 0; fields.size() > 1 && k < fields.size(); ++k)
    values.push_back(e.c.add(ir::op::at, e.c->result(n), number(e.c, static_cast<std::int64_t>(k))));
  e.set_results(call, values);
}

} // namespace overdub::lifting
