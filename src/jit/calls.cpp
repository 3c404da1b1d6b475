// Calls, function values, host functions and random choices; prologues and bodies of functions.
#include "function.hpp"
#include "runtime.hpp"

#include <overdub/implementation/execute/host_calls.hpp>
#include <overdub/ir/type_text.hpp>

namespace overdub::jit {

llvm::Type* result_type(llvm::LLVMContext& c, llvm::ArrayRef<ir::type> results) {
  llvm::SmallVector<llvm::Type*, 4> types;
  for (ir::type const t : results) append_types(c, t, types);
  if (types.empty()) return llvm::Type::getVoidTy(c);
  return types.size() == 1 ? types[0] : llvm::StructType::get(c, types);
}

void function_compiler::set_results(node_id n, llvm::Value* returned) {
  unsigned next = 0;
  bool const is_struct = returned->getType()->isStructTy();
  for (value_id const v : f_.results_of(n)) {
    llvm::SmallVector<llvm::Type*, 4> types;
    append_types(context_, type_of(v), types);
    value x;
    for (std::size_t k = 0; k < types.size(); ++k)
      x.all.push_back(is_struct ? b_.CreateExtractValue(returned, next++) : returned);
    set(v, std::move(x));
  }
}

void function_compiler::compile_call(node_id n) {
  function_id const callee = f_[n].attributes.callee();
  llvm::Function* const target = shared_.function_for(callee);
  parts arguments{machine_};
  auto const owned = [&](std::uint32_t k) {
    return is_reference_counted(type_of(f_.operand(n, k))) && shared_.owners.owns(callee, k);
  };
  for (std::uint32_t k = 0; k < f_[n].operand_count; ++k) {
    value_id const v = f_.operand(n, k);
    bool is_read_too = false; // by the callee, as a parameter that it does not own
    for (std::uint32_t other = 0; owned(k) && other < f_[n].operand_count; ++other)
      is_read_too = is_read_too || (f_.operand(n, other) == v && !owned(other));
    if (owned(k) && (is_read_too || !transfer_reference(v, n))) retain(v);
    value const x = get(v);
    arguments.append(x.all.begin(), x.all.end());
  }
  set_results(n, call(target, arguments));
}

void function_compiler::compile_apply(node_id n) {
  value_id const f = f_.operand(n, 0);
  ir::type const t = type_of(f);
  ir::signature const& s = p_.signature_of(t);
  llvm::Function* const target = shared_.applier_for(t);
  auto const owned = [&](std::uint32_t k) {
    return is_reference_counted(type_of(f_.operand(n, k))) && shared_.owners.owns(t, k - 1);
  };
  std::vector<value> given;
  for (std::uint32_t k = 1; k < f_[n].operand_count; ++k) {
    value_id const v = f_.operand(n, k);
    bool is_read_too = false; // as a parameter that is not owned
    for (std::uint32_t other = 1; owned(k) && other < f_[n].operand_count; ++other)
      is_read_too = is_read_too || (f_.operand(n, other) == v && !owned(other));
    if (owned(k) && (is_read_too || !transfer_reference(v, n))) retain(v);
    given.push_back(get(v));
  }
  parts arguments{machine(), scalar(f)};
  if (s.calls == ir::convention::direct) {
    for (value const& x : given) arguments.append(x.all.begin(), x.all.end());
    return set_results(n, call(target, arguments));
  }
  std::uint32_t words = 0;
  for (ir::type const& each : s.parameters) words += words_of(each);
  llvm::Value* const in = new_words(words);
  words = 0;
  for (std::size_t k = 0; k < given.size(); ++k) {
    store_words(s.parameters[k], given[k], byte_offset(in, 8 * words));
    words += words_of(s.parameters[k]);
  }
  words = 0;
  for (ir::type const& each : s.results) words += words_of(each);
  llvm::Value* const out = new_words(words);
  arguments.append({in, out});
  (void)call(target, arguments);
  words = 0;
  for (value_id const v : f_.results_of(n)) {
    set(v, load_words(type_of(v), byte_offset(out, 8 * words)));
    words += words_of(type_of(v));
  }
}

// A function value is a buffer: {index of the function, number of captured words, the words}.
void function_compiler::compile_closure(node_id n) {
  std::uint32_t const captured = f_[n].operand_count;
  std::uint32_t const closure =
      shared_.closure_number(f_[n].attributes.callee(), captured, type_of(f_.result(n)));
  std::uint32_t words = 0;
  for (value_id const v : f_.operands_of(n)) words += words_of(type_of(v));
  llvm::Value* const made = call(runtime_function::take, {machine(), integer(8 * (2 + std::int64_t{words}))});
  llvm::Value* to = byte_offset(made, sizeof(execute::buffer));
  b_.CreateAlignedStore(integer(closure), to, llvm::Align(8));
  b_.CreateAlignedStore(integer(words), byte_offset(to, 8), llvm::Align(8));
  to = byte_offset(to, 16);
  for (value_id const v : f_.operands_of(n)) {
    store_words(type_of(v), transferred(v, n), to);
    to = byte_offset(to, 8 * words_of(type_of(v)));
  }
  set(f_.result(n), made);
}

void function_compiler::compile_host(node_id n) {
  refuser const refuse_it{p_, id_};
  bool const is_sample = f_[n].code == ir::op::sample;
  std::vector<execute::offset> offsets;
  std::uint32_t words = 0;
  auto const add = [&](value_id v) {
    offsets.push_back(8 * words);
    words += words_of(type_of(v));
  };
  for (value_id const v : f_.operands_of(n)) add(v);
  for (value_id const v : f_.results_of(n)) add(v);
  llvm::Value* const frame = new_words(words + 1);
  std::size_t k = 0;
  for (value_id const v : f_.operands_of(n))
    store_words(type_of(v), get(v), byte_offset(frame, offsets[k++]));
  (is_sample ? shared_.samples : shared_.hosts).push_back({id_, n});
  std::size_t const number = is_sample ? shared_.to.samples.size() : shared_.to.hosts.size();
  if (is_sample)
    shared_.to.samples.push_back(execute::sample_call_of(p_, f_, n, shared_.to, refuse_it));
  else
    shared_.to.hosts.push_back(execute::host_call_of(p_, f_, n, shared_.to, refuse_it));
  (void)call(
      is_sample ? runtime_function::sample : runtime_function::host,
      {machine(), frame, b_.getInt32(shared_.add_list(offsets)),
       b_.getInt32(static_cast<std::uint32_t>(number))});
  for (value_id const v : f_.results_of(n)) {
    value x = load_words(type_of(v), byte_offset(frame, offsets[k++]));
    x.unique = type_of(v).rank > 0;
    set(v, std::move(x));
  }
}

void function_compiler::compile_assert(node_id n) {
  require(
      scalar(f_.operand(n, 0)), runtime_function::throw_assertion,
      {shared_.text(p_.text(f_[n].attributes.text()))});
}

// ---- whole functions

void function_compiler::check_type(ir::type t) const {
  if (t.element == ir::scalar::key || t.element == ir::scalar::opaque)
    refuse("it has values of type " + ir::text_of(p_, t) + ", which are not supported here");
  if (t.element == ir::scalar::function && t.rank > 0)
    refuse("it has arrays of functions; pass the functions one by one");
}

void function_compiler::compile_node(node_id n) {
  for (value_id const v : f_.results_of(n)) check_type(type_of(v));
  if (shared_.lines) b_.SetCurrentDebugLocation(shared_.lines->location(f_[n].place));
  compile_operation(n);
  live_in(f_.results_of(n), f_[n].parent);
}

void function_compiler::compile_operation(node_id n) {
  switch (f_[n].code) {
  case ir::op::convert: {
    value_id const from = f_.operand(n, 0), to = f_.result(n);
    return set(to, converted(type_of(from).element, type_of(to).element, scalar(from)));
  }
  case ir::op::array:
    return compile_array(n);
  case ir::op::length:
    return compile_length(n);
  case ir::op::at:
    return compile_at(n);
  case ir::op::slice:
    return compile_slice(n);
  case ir::op::update:
    return compile_update(n);
  case ir::op::fill:
    return compile_fill(n);
  case ir::op::iota:
    return compile_iota(n);
  case ir::op::concat:
    return compile_concat(n);
  case ir::op::gather:
    return compile_gather(n);
  case ir::op::copy:
    return set(f_.result(n), reuse_array(f_.operand(n, 0), n, false));
  case ir::op::if_:
    return compile_if(n);
  case ir::op::loop:
    return compile_loop(n);
  case ir::op::while_:
    return compile_while(n);
  case ir::op::map:
    return compile_map(n);
  case ir::op::reduce:
    return compile_reduce(n);
  case ir::op::accumulate:
    return compile_accumulate(n);
  case ir::op::add_to:
    return compile_add_to(n);
  case ir::op::protect:
    return compile_protect(n);
  case ir::op::call:
    return compile_call(n);
  case ir::op::apply:
    return compile_apply(n);
  case ir::op::closure:
    return compile_closure(n);
  case ir::op::host:
  case ir::op::sample:
    return compile_host(n);
  case ir::op::assert_:
    return compile_assert(n);
  default:
    return compile_elementwise(n);
  }
}

// Recursive functions check the stack limit here.
void function_compiler::prologue() {
  if (!shared_.calls.is_recursive(id_)) return;
  llvm::Value* const here =
      b_.CreateCall(intrinsic(*shared_.module, llvm::Intrinsic::frameaddress, {pointer()}), {b_.getInt32(0)});
  llvm::Value* const end = b_.CreateAlignedLoad(
      b_.getInt64Ty(), byte_offset(machine(), runtime::stack_end_offset()), llvm::Align(8));
  require(
      b_.CreateICmpUGE(b_.CreatePtrToInt(here, b_.getInt64Ty()), end), runtime_function::throw_too_deep,
      {machine()});
}

void function_compiler::compile() {
  at(new_block("entry"));
  if (shared_.lines) b_.SetCurrentDebugLocation(shared_.lines->begin(*made_, f_));
  // Self-recursive tail calls continue after it: static allocas are in the first block.
  block const start = new_block("start");
  unsigned next = 1;
  for (value_id const v : f_.parameters()) {
    check_type(type_of(v));
    llvm::SmallVector<llvm::Type*, 4> types;
    append_types(context_, type_of(v), types);
    value x;
    for (std::size_t k = 0; k < types.size(); ++k) x.all.push_back(made_->getArg(next++));
    x.borrowed = is_reference_counted(type_of(v)) && !shared_.owners.owns(id_, f_[v].index);
    set(v, std::move(x));
  }
  block const entry = b_.GetInsertBlock();
  at(start);
  prologue();
  live_in(f_.parameters(), ir::function::body);
  compile_region(ir::function::body);
  compile_return();
  at(entry);
  go(start);
}

void function_compiler::compile_return() {
  node_id const last = f_.yield_of(ir::function::body);
  parts all;
  for (value const& x : transferred_yields(ir::function::body, 0, f_[last].operand_count))
    all.append(x.all.begin(), x.all.end());
  finish(last);
  if (all.empty()) {
    b_.CreateRetVoid();
    return;
  }
  if (all.size() == 1) {
    b_.CreateRet(all[0]);
    return;
  }
  llvm::Value* together = llvm::PoisonValue::get(made_->getReturnType());
  for (unsigned k = 0; k < all.size(); ++k) together = b_.CreateInsertValue(together, all[k], k);
  b_.CreateRet(together);
}

} // namespace overdub::jit
