#include "program.hpp"

#include "function.hpp"

#include <overdub/ir/effects.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

namespace overdub::jit {

// ---- ownership

ownership::ownership(ir::program const& p, ir::call_components const& calls)
    : owned_(p.functions.size()), of_type_(p.signature_count()) {
  for (function_id const f : calls.order()) owned_[index_of(f)].resize(p[f].parameters().size());
  for (std::uint16_t i = 0; i < of_type_.size(); ++i)
    of_type_[i].resize(p.signature_of({ir::scalar::function, 0, false, i}).parameters.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (function_id const f : calls.order()) changed = look_at(p, f) || changed;
  }
}
bool ownership::look_at(ir::program const& p, function_id id) {
  ir::function const& f = p[id];
  bool changed = false;
  for (value_id const v : f.parameters()) {
    auto owned = owned_[index_of(id)][f[v].index];
    if (owned || !is_reference_counted(f.type_of(v))) continue;
    for (ir::use_id const u : f.uses_of(v))
      if (takes(f, u)) owned = changed = true;
  }
  ir::walk(f, ir::function::body, [&](node_id n) {
    if (f[n].code == ir::op::closure) changed = look_at_closure(f, n) || changed;
  });
  return changed;
}
// Function values of a type own what one of the functions with this type owns.
bool ownership::look_at_closure(ir::function const& f, node_id n) {
  auto const& parameters = owned_[index_of(f[n].attributes.callee())];
  auto& owned = of_type_[f.type_of(f.result(n)).index];
  bool changed = false;
  for (std::size_t k = 0; k < owned.size(); ++k) {
    changed = changed || (!owned[k] && parameters[f[n].operand_count + k]);
    owned[k] = owned[k] || parameters[f[n].operand_count + k];
  }
  return changed;
}
// Whether an operation transfers a value, or updates it in place.
bool ownership::takes(ir::function const& f, ir::use_id u) const {
  node_id const n = f[u].user;
  std::uint32_t const operand = index_of(u) - f[n].first_operand;
  switch (f[n].code) {
  case ir::op::update:
  case ir::op::copy:
    return operand == 0;
  case ir::op::yield:
  case ir::op::closure:
    return true;
  case ir::op::reduce:
    return operand >= f[n].result_count;
  case ir::op::apply:
    return operand > 0 && of_type_[f.type_of(f.operand(n, 0)).index][operand - 1];
  case ir::op::call:
    return owned_[index_of(f[n].attributes.callee())][operand];
  default:
    return ir::carries_values(f[n].code) || ir::has_accumulators(f[n].code);
  }
}

// ---- functions

namespace {

bool repeats(ir::program const& p, function_id entry) {
  ir::effect_set all = ir::effects(p).of(entry);
  for (effect const e : {effect::addressed, effect::accumulates, effect::ordered})
    if (all.has(e)) return false;
  return true;
}

// In the exact mode, libm is called number by number. A call that runs once does not matter.
vector_width width_for(ir::program const& p, function_id entry) {
  if (p.math != ir::math_mode::exact) return vector_width::all;
  std::vector<bool> reached(p.functions.size());
  std::vector<function_id> pending{entry};
  reached[index_of(entry)] = true;
  bool calls = false;
  while (!pending.empty() && !calls) {
    function_id const id = pending.back();
    pending.pop_back();
    ir::function const& f = p[id];
    ir::walk(f, ir::function::body, [&](node_id n) {
      ir::op const code = f[n].code;
      if (code == ir::op::call || code == ir::op::closure) {
        function_id const callee = f[n].attributes.callee();
        if (!reached[index_of(callee)]) pending.push_back(callee);
        reached[index_of(callee)] = true;
      }
      bool const repeats = id != entry || f[n].parent != ir::function::body;
      calls = calls || (repeats && ir::is_elementary(code));
    });
  }
  return calls ? vector_width::at_most_256 : vector_width::all;
}

} // namespace

program_compiler::program_compiler(
    ir::program const& given, ir::function_id entry, execute::code& made, options const& o)
    : p(given), to(made), how(o), context(std::make_unique<llvm::LLVMContext>()),
      module(std::make_unique<llvm::Module>("overdub", *context)), calls(given), owners(given, calls),
      is_repeatable(repeats(given, entry)), width(width_for(given, entry)),
      vectors(set_target(*module, o, width)), elementary(*module, given.math, vectors), entry_(entry),
      made_(given.functions.size()) {
  if (o.debug) lines.emplace(*module, p);
}

llvm::AllocaInst* program_compiler::new_words(llvm::IRBuilder<>& b, std::size_t words) const {
  auto* const made = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), words));
  made->setAlignment(vectors.alignment(words * execute::word_size));
  return made;
}

std::uint32_t program_compiler::add_list(std::vector<execute::offset> const& words) {
  auto const first = static_cast<std::uint32_t>(to.lists.size());
  to.lists.insert(to.lists.end(), words.begin(), words.end());
  return first;
}

llvm::Value* program_compiler::text(std::string_view t) {
  auto* const data = llvm::ConstantDataArray::getString(*context, llvm::StringRef(t.data(), t.size()));
  auto* const made = new llvm::GlobalVariable(
      *module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "text");
  made->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return made;
}

llvm::Function* program_compiler::new_function(
    std::string const& name, llvm::ArrayRef<llvm::Type*> parameters, llvm::ArrayRef<ir::type> results) {
  auto* const made = llvm::Function::Create(
      llvm::FunctionType::get(result_type(*context, results), parameters, false),
      llvm::Function::InternalLinkage, name, *module);
  made->setCallingConv(llvm::CallingConv::Fast);
  made->setAlignment(llvm::Align(64));
  set_unwindable(*made);
  // Vector versions of functions are worth the widest vectors.
  if (p.math != ir::math_mode::exact) made->addFnAttr("prefer-vector-width", std::to_string(vectors.bits));
  return made;
}

llvm::Function* program_compiler::function_for(function_id f) {
  llvm::Function*& made = made_[index_of(f)];
  if (made != nullptr) return made;
  llvm::SmallVector<llvm::Type*, 8> parameters{pointer_type(*context)};
  for (value_id const v : p[f].parameters()) append_types(*context, p[f].type_of(v), parameters);
  made = new_function("overdub." + std::string(p.name_of(f)), parameters, p[f].results);
  // Unbounded recursion must reach the stack limit.
  if (calls.is_recursive(f)) made->addFnAttr("disable-tail-calls", "true");
  pending_.push_back(f);
  return made;
}

// ---- reference counts

llvm::Function* program_compiler::retainer() {
  if (auto* const known = module->getFunction("retain")) return known;
  auto* const f = new_function("retain", {pointer_type(*context)}, {});
  f->addFnAttr(llvm::Attribute::AlwaysInline);
  f->setDoesNotThrow();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(*context, "", f));
  auto* const some = llvm::BasicBlock::Create(*context, "some", f);
  auto* const done = llvm::BasicBlock::Create(*context, "done", f);
  llvm::Value* const owner = f->getArg(0);
  b.CreateCondBr(b.CreateIsNull(owner), done, some);
  b.SetInsertPoint(some);
  llvm::Value* const count = b.CreateAlignedLoad(b.getInt64Ty(), owner, llvm::Align(8));
  b.CreateAlignedStore(b.CreateAdd(count, b.getInt64(1)), owner, llvm::Align(8));
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return f;
}
llvm::Function* program_compiler::releaser(ir::type t) {
  bool const is_array = t.rank > 0;
  char const* const name = is_array ? "release" : "release_function";
  if (auto* const known = module->getFunction(name)) return known;
  auto* const f = new_function(name, {pointer_type(*context), pointer_type(*context)}, {});
  f->addFnAttr(llvm::Attribute::AlwaysInline);
  f->setDoesNotThrow();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(*context, "", f));
  auto const block = [&](char const* of) { return llvm::BasicBlock::Create(*context, of, f); };
  auto *const some = block("some"), *const last = block("last"), *const shared = block("shared"),
              *const done = block("done");
  llvm::Value *const machine = f->getArg(0), *const owner = f->getArg(1);
  if (is_array)
    b.CreateCondBr(b.CreateIsNull(owner), done, some);
  else
    b.CreateBr(some);
  b.SetInsertPoint(some);
  llvm::Value* const count = b.CreateAlignedLoad(b.getInt64Ty(), owner, llvm::Align(8));
  b.CreateCondBr(b.CreateICmpEQ(count, b.getInt64(1)), last, shared);
  b.SetInsertPoint(last);
  auto const frees = is_array ? runtime_function::free_buffer : runtime_function::release_function;
  b.CreateCall(declare(*module, frees), {machine, owner});
  b.CreateBr(done);
  b.SetInsertPoint(shared);
  b.CreateAlignedStore(b.CreateSub(count, b.getInt64(1)), owner, llvm::Align(8));
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return f;
}

// ---- entry points for C++

// Arguments from C++ usually have no owners: one test covers all. They are read from the frame, so that none occupies a
// register during the run.
void program_compiler::return_to_frame(
    llvm::IRBuilder<>& b, llvm::ArrayRef<std::pair<ir::type, llvm::Value*>> owners_at, llvm::Value* machine) {
  if (owners_at.empty()) return;
  llvm::Value* any = b.getInt64(0);
  llvm::SmallVector<std::pair<ir::type, llvm::Value*>, 4> given;
  for (auto const& [t, at] : owners_at) {
    given.emplace_back(t, b.CreateAlignedLoad(pointer_type(*context), at, llvm::Align(8)));
    any = b.CreateOr(any, b.CreatePtrToInt(given.back().second, b.getInt64Ty()));
  }
  llvm::Function* const f = b.GetInsertBlock()->getParent();
  auto* const release = llvm::BasicBlock::Create(*context, "release", f);
  auto* const end = llvm::BasicBlock::Create(*context, "released", f);
  b.CreateCondBr(
      b.CreateICmpNE(any, b.getInt64(0)), release, end,
      llvm::MDBuilder(*context).createBranchWeights(1, 1U << 20));
  b.SetInsertPoint(release);
  for (auto const& [t, owner] : given)
    b.CreateCall(releaser(t), {machine, owner})->setCallingConv(llvm::CallingConv::Fast);
  b.CreateBr(end);
  b.SetInsertPoint(end);
}

// void(std::byte* frame, machine*): arguments are in the frame's first words; the frame has the destinations of results.
void program_compiler::make_entry(function_id id, llvm::Function* target) {
  ir::function const& f = p[id];
  llvm::Type* const pointer = pointer_type(*context);
  auto* const entry = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(*context), {pointer, pointer}, false),
      llvm::Function::ExternalLinkage, "overdub:entry", *module);
  entry->setAlignment(llvm::Align(64));
  set_unwindable(*entry);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(*context, "", entry));
  llvm::Value *const frame = entry->getArg(0), *const machine = entry->getArg(1);
  auto const word = [&](llvm::Value* at, std::size_t bytes) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), at, bytes);
  };
  llvm::SmallVector<llvm::Value*, 8> arguments{machine};
  llvm::SmallVector<std::pair<ir::type, llvm::Value*>, 4> released_later;
  std::size_t at = execute::first_parameter;
  for (value_id const v : f.parameters()) {
    llvm::SmallVector<llvm::Type*, 4> types;
    append_types(*context, f.type_of(v), types);
    if (f.type_of(v).rank > 0 && !owners.owns(id, f[v].index))
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
  if (target != nullptr && !uses_machine) {
    arguments.erase(arguments.begin());
    bool const many = f.results.size() > 1; // results are written to their destinations at once
    if (many) arguments.push_back(results);
    called = b.CreateCall(target, arguments);
    called->setAttributes(target->getAttributes());
    called->setIsNoInline();
    if (many) return static_cast<void>(b.CreateRetVoid());
  } else {
    called = b.CreateCall(function_for(id), arguments);
    called->setCallingConv(llvm::CallingConv::Fast);
  }
  return_to_frame(b, released_later, machine);
  llvm::SmallVector<llvm::Type*, 4> types;
  for (ir::type const t : f.results) append_types(*context, t, types);
  for (unsigned k = 0; k < types.size(); ++k) {
    llvm::Value* x = types.size() == 1 ? called : b.CreateExtractValue(called, k);
    if (types[k]->isIntegerTy(1)) x = b.CreateZExt(x, b.getInt64Ty());
    b.CreateAlignedStore(x, word(results, std::size_t{k} * execute::word_size), llvm::Align(8));
  }
  b.CreateRetVoid();
}

// R(A...) of scalars, for C++. If it needs a machine, it runs the entry on one of the thread's.
llvm::Function* program_compiler::make_target(function_id id) {
  ir::function const& f = p[id];
  bool const many = f.results.size() > 1; // the last parameter points to a word for each
  llvm::SmallVector<llvm::Type*, 8> parameters;
  for (value_id const v : f.parameters()) {
    if (f.type_of(v).rank > 0) return nullptr;
    parameters.push_back(scalar_type(*context, f.type_of(v).element));
  }
  for (ir::type const t : f.results)
    if (t.rank > 0) return nullptr;
  auto const count = static_cast<unsigned>(parameters.size());
  llvm::Type* const pointer = pointer_type(*context);
  if (many) parameters.push_back(pointer);
  llvm::Type* const result = many ? llvm::Type::getVoidTy(*context) : result_type(*context, f.results);
  auto* const target = llvm::Function::Create(
      llvm::FunctionType::get(result, parameters, false), llvm::Function::ExternalLinkage, "overdub:target",
      *module);
  target->setAlignment(llvm::Align(64));
  set_unwindable(*target);
  for (unsigned k = 0; k < count; ++k)
    if (parameters[k]->isIntegerTy(1)) target->addParamAttr(k, llvm::Attribute::ZExt);
  if (result->isIntegerTy(1)) target->addRetAttr(llvm::Attribute::ZExt);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(*context, "", target));
  if (!uses_machine) {
    llvm::SmallVector<llvm::Value*, 8> arguments{llvm::ConstantPointerNull::get(pointer_type(*context))};
    for (unsigned k = 0; k < count; ++k) arguments.push_back(target->getArg(k));
    auto* const called = b.CreateCall(function_for(id), arguments);
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
      *module, pointer, false, llvm::GlobalValue::ExternalLinkage,
      llvm::ConstantPointerNull::get(pointer_type(*context)), "overdub:code");
  std::size_t const first = execute::first_parameter / execute::word_size;
  llvm::Value* const frame = new_words(b, first + count + 1);
  auto const word = [&](std::size_t k) { return b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), frame, k); };
  llvm::Value* const answer = many ? target->getArg(count) : word(first + count);
  b.CreateAlignedStore(answer, word(execute::return_frame / execute::word_size), llvm::Align(8));
  for (unsigned k = 0; k < count; ++k) {
    llvm::Value* x = target->getArg(k);
    if (parameters[k]->isIntegerTy(1)) x = b.CreateZExt(x, b.getInt64Ty());
    b.CreateAlignedStore(x, word(first + k), llvm::Align(8));
  }
  b.CreateCall(declare(*module, runtime_function::on_machine), {code, frame});
  if (result->isVoidTy()) {
    b.CreateRetVoid();
    return target;
  }
  bool const is_bool = result->isIntegerTy(1);
  llvm::Value* const x = b.CreateAlignedLoad(is_bool ? b.getInt64Ty() : result, answer, llvm::Align(8));
  b.CreateRet(is_bool ? b.CreateICmpNE(x, b.getInt64(0)) : x);
  return target;
}

void program_compiler::compile() {
  (void)function_for(entry_);
  while (!pending_.empty()) {
    function_id const f = pending_.back();
    pending_.pop_back();
    function_compiler(*this, f, made_[index_of(f)]).compile();
  }
  fill_appliers();
  fill_boxed_table();
  elementary.keep_variants();
  make_entry(entry_, make_target(entry_));
  if (lines) lines->finish();
}

} // namespace overdub::jit
