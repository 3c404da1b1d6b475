// Values in registers and in memory, and the basic control flow.
#include "function.hpp"

#include <overdub/ir/walk.hpp>

#include <bit>

namespace overdub::jit {

llvm::Type* scalar_type(llvm::LLVMContext& c, ir::scalar s) {
  switch (s) {
  case ir::scalar::boolean:
    return llvm::Type::getInt1Ty(c);
  case ir::scalar::i64:
    return llvm::Type::getInt64Ty(c);
  case ir::scalar::f32:
    return llvm::Type::getFloatTy(c);
  case ir::scalar::f64:
    return llvm::Type::getDoubleTy(c);
  default:
    return pointer_type(c); // a function value
  }
}

void append_types(llvm::LLVMContext& c, ir::type t, llvm::SmallVectorImpl<llvm::Type*>& to) {
  if (t.rank == 0) {
    to.push_back(scalar_type(c, t.element));
    return;
  }
  to.append(2, pointer_type(c));
  to.append(t.rank, llvm::Type::getInt64Ty(c));
}

function_compiler::function_compiler(program_compiler& shared, function_id id, llvm::Function* made)
    : shared_(shared), p_(shared.p), f_(shared.p[id]), id_(id), made_(made), context_(*shared.context),
      b_(context_), machine_(made->getArg(0)), values_(f_.value_count()),
      borrowed_from_(f_.value_count(), ir::nothing), last_use_of_(f_.value_count(), ir::nothing),
      last_uses_(f_.node_count()), order_(f_), rows_(f_.value_count()), reduced_(f_.node_count()),
      in_place_(f_.value_count()), unchecked_(f_.node_count()) {
  if (p_.math == ir::math_mode::fast) {
    // Without nnan and ninf: NaN and infinities are allowed. Without arcp: 1/y may overflow for a subnormal y where x/y
    // is finite.
    llvm::FastMathFlags fast;
    fast.setAllowContract(true);
    fast.setAllowReassoc();
    fast.setNoSignedZeros();
    fast.setApproxFunc();
    b_.setFastMathFlags(fast);
  }
}

llvm::Value* function_compiler::literal(value_id v) const {
  std::uint64_t const bits = f_.bits_of(v);
  switch (type_of(v).element) {
  case ir::scalar::boolean:
    return b_.getInt1(bits != 0);
  case ir::scalar::f32:
    return llvm::ConstantFP::get(
        context_, llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits & 0xffffffffu)));
  case ir::scalar::f64:
    return llvm::ConstantFP::get(context_, llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits)));
  default:
    return b_.getInt64(bits);
  }
}

value function_compiler::get(value_id v) const {
  return f_.is_literal(v) ? value{{literal(v)}} : values_[index_of(v)];
}

llvm::Value* function_compiler::owner_of(value_id v) const {
  return values_[index_of(v)].all[type_of(v).rank > 0 ? 1 : 0];
}

// ---- memory

llvm::Type* function_compiler::type_in_memory(ir::scalar s) const {
  return s == ir::scalar::boolean ? b_.getInt8Ty() : type(s);
}
llvm::Value* function_compiler::load_scalar(ir::scalar s, llvm::Value* from, value_id accumulator) {
  auto* const x = b_.CreateAlignedLoad(type_in_memory(s), from, llvm::Align(execute::size_of(s)));
  set_alias_scope(x, accumulator);
  return s == ir::scalar::boolean ? b_.CreateICmpNE(x, b_.getInt8(0)) : x;
}
void function_compiler::store_scalar(ir::scalar s, llvm::Value* x, llvm::Value* to, value_id accumulator) {
  if (s == ir::scalar::boolean) x = b_.CreateZExt(x, b_.getInt8Ty());
  set_alias_scope(b_.CreateAlignedStore(x, to, llvm::Align(execute::size_of(s))), accumulator);
}
void function_compiler::set_alias_scope(llvm::Instruction* access, value_id accumulator) {
  constexpr std::size_t most = 16; // with more, alias metadata is omitted: it would be quadratic
  if (accumulators_.size() > most) return;
  llvm::SmallVector<llvm::Metadata*, 8> own, others;
  for (auto const& [v, scope] : accumulators_) (v == accumulator ? own : others).push_back(scope);
  if (accumulator != ir::nothing && own.empty()) return; // it has no scope in this function: it is the caller's
  if (!own.empty()) access->setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(context_, own));
  if (!others.empty())
    access->setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(context_, others));
}
llvm::Value* function_compiler::element_address(ir::scalar s, llvm::Value* elements, llvm::Value* index) {
  return b_.CreateGEP(type_in_memory(s), elements, index);
}
llvm::Value* function_compiler::byte_offset(llvm::Value* p, std::int64_t bytes) {
  return bytes == 0 ? p : b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), p, static_cast<std::uint64_t>(bytes));
}

llvm::Value* function_compiler::new_words(std::uint32_t words) {
  llvm::IRBuilder<> first(&made_->getEntryBlock(), made_->getEntryBlock().begin());
  return shared_.new_words(first, words);
}
llvm::Align function_compiler::vector_alignment(llvm::Type* vector) const {
  return shared_.vectors.alignment(vector->getPrimitiveSizeInBits().getFixedValue() / 8);
}
void function_compiler::store_words(ir::type t, value const& x, llvm::Value* to) {
  for (std::size_t k = 0; k < x.all.size(); ++k) {
    llvm::Value* part = x.all[k];
    if (t.rank == 0 && t.element == ir::scalar::boolean) part = b_.CreateZExt(part, b_.getInt64Ty());
    b_.CreateAlignedStore(part, byte_offset(to, 8 * static_cast<std::int64_t>(k)), llvm::Align(8));
  }
}
value function_compiler::load_words(ir::type t, llvm::Value* from) {
  llvm::SmallVector<llvm::Type*, 4> types;
  append_types(context_, t, types);
  value x;
  for (std::size_t k = 0; k < types.size(); ++k) {
    bool const is_bool = types[k]->isIntegerTy(1);
    llvm::Value* part = b_.CreateAlignedLoad(
        is_bool ? b_.getInt64Ty() : types[k], byte_offset(from, 8 * static_cast<std::int64_t>(k)),
        llvm::Align(8));
    x.all.push_back(is_bool ? b_.CreateICmpNE(part, b_.getInt64(0)) : part);
  }
  return x;
}

// ---- control flow

void function_compiler::branch_rarely(llvm::Value* rare, block then, block otherwise) {
  auto* const branch = b_.CreateCondBr(rare, then, otherwise);
  llvm::Type* const t = b_.getInt32Ty();
  branch->setMetadata(
      llvm::LLVMContext::MD_prof,
      llvm::MDNode::get(
          context_, {llvm::MDString::get(context_, "branch_weights"),
                     llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(t, 1)),
                     llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(t, 1u << 20))}));
}

llvm::CallBase* function_compiler::call(llvm::FunctionCallee f, llvm::ArrayRef<llvm::Value*> arguments) {
  auto* const callee = llvm::cast<llvm::Function>(f.getCallee());
  llvm::CallBase* made;
  if (handler_ && !callee->doesNotThrow()) {
    block const next = new_block("behind");
    made = b_.CreateInvoke(f, next, handler_->landing, arguments);
    at(next);
  } else
    made = b_.CreateCall(f, arguments);
  made->setCallingConv(callee->getCallingConv());
  made->setAttributes(llvm::AttributeList::get(context_, {}, callee->getAttributes().getRetAttrs(), {}));
  return made;
}

void function_compiler::require(
    llvm::Value* condition, runtime_function fail, llvm::ArrayRef<llvm::Value*> arguments) {
  if (auto* const known = llvm::dyn_cast<llvm::ConstantInt>(condition); known != nullptr && known->isOne())
    return;
  block const failed = new_block("failed"), good = new_block("good");
  branch_rarely(b_.CreateNot(condition), failed, good);
  at(failed);
  (void)call(fail, arguments);
  b_.CreateUnreachable();
  at(good);
}
void function_compiler::require_index(ir::op code, llvm::Value* i, llvm::Value* size) {
  require(b_.CreateICmpULT(i, size), runtime_function::throw_index, {number(code), i, size});
}
void function_compiler::require_not_negative(ir::op code, llvm::Value* n) {
  require(b_.CreateICmpSGE(n, integer(0)), runtime_function::throw_negative, {number(code), n});
}

function_compiler::counted_loop
function_compiler::begin_loop(llvm::Value* count, llvm::ArrayRef<llvm::Value*> carried) {
  block const from = b_.GetInsertBlock();
  counted_loop l{new_block("loop"), new_block("turn"), new_block("next"), new_block("done"), nullptr, {}};
  go(l.header);
  at(l.header);
  l.index = b_.CreatePHI(b_.getInt64Ty(), 2);
  l.index->addIncoming(integer(0), from);
  for (llvm::Value* const x : carried) {
    l.carried.push_back(b_.CreatePHI(x->getType(), 2));
    l.carried.back()->addIncoming(x, from);
  }
  b_.CreateCondBr(b_.CreateICmpSLT(l.index, count), l.body, l.exit);
  at(l.body);
  return l;
}
void function_compiler::end_loop(counted_loop const& l, llvm::ArrayRef<llvm::Value*> next, bool unrolled) {
  go(l.latch);
  at(l.latch);
  l.index->addIncoming(b_.CreateNSWAdd(l.index, integer(1)), l.latch);
  for (std::size_t k = 0; k < next.size(); ++k) l.carried[k]->addIncoming(next[k], l.latch);
  auto* const back = b_.CreateBr(l.header);
  if (unrolled) {
    auto* const count = llvm::MDNode::get(
        context_, {llvm::MDString::get(context_, "llvm.loop.unroll.count"),
                   llvm::ConstantAsMetadata::get(b_.getInt32(4))});
    auto* const id = llvm::MDNode::getDistinct(context_, {nullptr, count});
    id->replaceOperandWith(0, id);
    back->setMetadata(llvm::LLVMContext::MD_loop, id);
  }
  at(l.exit);
}
// Whether to request unrolling, which saves moves of loop-carried values: a short body of elementwise operations with a costly
// one, which is usually a call. LLVM does not unroll loops with calls by itself.
bool function_compiler::is_short_with_calls(region_id body) const {
  std::uint32_t operations = 0;
  bool calls = false;
  for (node_id const n : f_.nodes_of(body)) {
    ir::op const code = f_[n].code;
    if (!ir::is_elementwise(code) && code != ir::op::yield) return false;
    calls = calls || ir::row_of(code).cost > 15;
    ++operations;
  }
  return calls && operations < 32;
}

} // namespace overdub::jit
