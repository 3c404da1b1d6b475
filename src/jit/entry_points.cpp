#include "entry_points.hpp"

#include "emitter.hpp"
#include "retain_release.hpp"
#include "runtime.hpp"

namespace overdub::jit {
namespace {

// Arguments from C++ usually have no owners: one test covers all. They are read from the frame, so that none occupies a
// register during the run.
void return_to_frame(
    program_state& program, llvm::IRBuilder<>& b, llvm::ArrayRef<std::pair<ir::type, llvm::Value*>> owners_at,
    llvm::Value* machine) {
  if (owners_at.empty()) return;
  llvm::Value* any = b.getInt64(0);
  llvm::SmallVector<std::pair<ir::type, llvm::Value*>, 4> given;
  for (auto const& [t, at] : owners_at) {
    given.emplace_back(t, b.CreateAlignedLoad(pointer_type(*program.context), at, llvm::Align(8)));
    any = b.CreateOr(any, b.CreatePtrToInt(given.back().second, b.getInt64Ty()));
  }
  llvm::Function* const f = b.GetInsertBlock()->getParent();
  auto* const release = llvm::BasicBlock::Create(*program.context, "release", f);
  auto* const end = llvm::BasicBlock::Create(*program.context, "released", f);
  b.CreateCondBr(
      b.CreateICmpNE(any, b.getInt64(0)), release, end,
      llvm::MDBuilder(*program.context).createBranchWeights(1, 1U << 20));
  b.SetInsertPoint(release);
  for (auto const& [t, owner] : given)
    b.CreateCall(releaser(program.functions, t), {machine, owner})->setCallingConv(llvm::CallingConv::Fast);
  b.CreateBr(end);
  b.SetInsertPoint(end);
}

// void(std::byte* frame, machine*): arguments are in the frame's first words; the frame has the destinations of results.
void make_entry(program_state& program, function_id id, llvm::Function* target) {
  ir::function const& f = program.p[id];
  llvm::Type* const pointer = pointer_type(*program.context);
  auto* const entry = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(*program.context), {pointer, pointer}, false),
      llvm::Function::ExternalLinkage, "overdub:entry", *program.module);
  entry->setAlignment(llvm::Align(64));
  set_unwindable(*entry);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(*program.context, "", entry));
  llvm::Value *const frame = entry->getArg(0), *const machine = entry->getArg(1);
  auto const word = [&](llvm::Value* at, std::size_t bytes) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), at, bytes);
  };
  llvm::SmallVector<llvm::Value*, 8> arguments{machine};
  llvm::SmallVector<std::pair<ir::type, llvm::Value*>, 4> released_later;
  std::size_t at = execute::first_parameter;
  for (value_id const v : f.parameters()) {
    llvm::SmallVector<llvm::Type*, 4> types;
    append_types(*program.context, f.type_of(v), types);
    if (f.type_of(v).rank > 0 && !program.owners.owns(id, f[v].index))
      released_later.push_back({f.type_of(v), word(frame, at + execute::word_size)});
    for (llvm::Type* const t : types) {
      bool const is_bool = t->isIntegerTy(1);
      llvm::Value* const x =
          b.CreateAlignedLoad(is_bool ? b.getInt64Ty() : t, word(frame, at), llvm::Align(8));
      arguments.push_back(is_bool ? b.CreateICmpNE(x, b.getInt64(0)) : x);
      at += execute::word_size;
    }
  }
  llvm::Value* const results =
      b.CreateAlignedLoad(pointer, word(frame, execute::return_frame), llvm::Align(8));
  // Code with a C++ entry point is not duplicated.
  llvm::CallInst* called;
  if (target != nullptr && !program.needs.machine) {
    arguments.erase(arguments.begin());
    bool const many = f.results.size() > 1; // results are written to their destinations at once
    if (many) arguments.push_back(results);
    called = b.CreateCall(target, arguments);
    called->setAttributes(target->getAttributes());
    called->setIsNoInline();
    if (many) return static_cast<void>(b.CreateRetVoid());
  } else {
    called = b.CreateCall(program.functions.function_for(id), arguments);
    called->setCallingConv(llvm::CallingConv::Fast);
  }
  return_to_frame(program, b, released_later, machine);
  llvm::SmallVector<llvm::Type*, 4> types;
  for (ir::type const t : f.results) append_types(*program.context, t, types);
  for (unsigned k = 0; k < types.size(); ++k) {
    llvm::Value* x = types.size() == 1 ? called : b.CreateExtractValue(called, k);
    if (types[k]->isIntegerTy(1)) x = b.CreateZExt(x, b.getInt64Ty());
    b.CreateAlignedStore(x, word(results, std::size_t{k} * execute::word_size), llvm::Align(8));
  }
  b.CreateRetVoid();
}

// R(A...) of scalars, for C++. If it needs a machine, it runs the entry on one of the thread's.
llvm::Function* make_target(program_state& program, function_id id) {
  ir::function const& f = program.p[id];
  bool const many = f.results.size() > 1; // the last parameter points to a word for each
  llvm::SmallVector<llvm::Type*, 8> parameters;
  for (value_id const v : f.parameters()) {
    if (f.type_of(v).rank > 0) return nullptr;
    parameters.push_back(scalar_type(*program.context, f.type_of(v).element));
  }
  for (ir::type const t : f.results)
    if (t.rank > 0) return nullptr;
  auto const count = static_cast<unsigned>(parameters.size());
  llvm::Type* const pointer = pointer_type(*program.context);
  if (many) parameters.push_back(pointer);
  llvm::Type* const result =
      many ? llvm::Type::getVoidTy(*program.context) : result_type(*program.context, f.results);
  auto* const target = llvm::Function::Create(
      llvm::FunctionType::get(result, parameters, false), llvm::Function::ExternalLinkage, "overdub:target",
      *program.module);
  target->setAlignment(llvm::Align(64));
  set_unwindable(*target);
  for (unsigned k = 0; k < count; ++k)
    if (parameters[k]->isIntegerTy(1)) target->addParamAttr(k, llvm::Attribute::ZExt);
  if (result->isIntegerTy(1)) target->addRetAttr(llvm::Attribute::ZExt);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(*program.context, "", target));
  if (!program.needs.machine) {
    llvm::SmallVector<llvm::Value*, 8> arguments{
        llvm::ConstantPointerNull::get(pointer_type(*program.context))};
    for (unsigned k = 0; k < count; ++k) arguments.push_back(target->getArg(k));
    auto* const called = b.CreateCall(program.functions.function_for(id), arguments);
    called->setCallingConv(llvm::CallingConv::Fast);
    for (unsigned k = 0; many && k < f.results.size(); ++k) {
      llvm::Value* x = b.CreateExtractValue(called, k);
      if (x->getType()->isIntegerTy(1)) x = b.CreateZExt(x, b.getInt64Ty());
      b.CreateAlignedStore(
          x, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), target->getArg(count), k), llvm::Align(8));
    }
    if (result->isVoidTy())
      b.CreateRetVoid();
    else
      b.CreateRet(called);
    return target;
  }
  // The address is set when the code is loaded.
  auto* const code = new llvm::GlobalVariable(
      *program.module, pointer, false, llvm::GlobalValue::ExternalLinkage,
      llvm::ConstantPointerNull::get(pointer_type(*program.context)), "overdub:code");
  std::size_t const first = execute::first_parameter / execute::word_size;
  llvm::Value* const frame = stack_words(b, program.target.unit, first + count + 1);
  auto const word = [&](std::size_t k) { return b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), frame, k); };
  llvm::Value* const answer = many ? target->getArg(count) : word(first + count);
  b.CreateAlignedStore(answer, word(execute::return_frame / execute::word_size), llvm::Align(8));
  for (unsigned k = 0; k < count; ++k) {
    llvm::Value* x = target->getArg(k);
    if (parameters[k]->isIntegerTy(1)) x = b.CreateZExt(x, b.getInt64Ty());
    b.CreateAlignedStore(x, word(first + k), llvm::Align(8));
  }
  b.CreateCall(declare(*program.module, runtime_function::on_machine), {code, frame});
  if (result->isVoidTy()) {
    b.CreateRetVoid();
    return target;
  }
  bool const is_bool = result->isIntegerTy(1);
  llvm::Value* const x = b.CreateAlignedLoad(is_bool ? b.getInt64Ty() : result, answer, llvm::Align(8));
  b.CreateRet(is_bool ? b.CreateICmpNE(x, b.getInt64(0)) : x);
  return target;
}

} // namespace

void make_entry_points(program_state& program, function_id entry) {
  make_entry(program, entry, make_target(program, entry));
}

} // namespace overdub::jit
