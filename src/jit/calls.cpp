#include "calls.hpp"

#include "memory_access.hpp"
#include "reference_counts.hpp"

#include <overdub/implementation/execute/buffer.hpp>

namespace overdub::jit {
namespace {

void set_results(function_state& fn, node_id n, llvm::Value* returned) {
  unsigned next = 0;
  bool const is_struct = returned->getType()->isStructTy();
  for (value_id const v : fn.f.results_of(n)) {
    llvm::SmallVector<llvm::Type*, 4> types;
    append_types(fn.e.context, fn.type_of(v), types);
    value x;
    for (std::size_t k = 0; k < types.size(); ++k)
      x.all.push_back(is_struct ? fn.b.CreateExtractValue(returned, next++) : returned);
    fn.set(v, std::move(x));
  }
}

// A constant text, terminated by a zero byte.
llvm::Value* text_constant(function_state& fn, std::string_view t) {
  auto* const data = llvm::ConstantDataArray::getString(fn.e.context, llvm::StringRef(t.data(), t.size()));
  auto* const made = new llvm::GlobalVariable(
      fn.e.module(), data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "text");
  made->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return made;
}

} // namespace

void emit_call(function_state& fn, node_id n) {
  function_id const callee = fn.f[n].attributes.callee();
  llvm::Function* const target = fn.program.functions.function_for(callee);
  parts arguments{fn.e.passed_machine()};
  for (value const& x : passed_values(fn, n, 0, fn.f[n].operand_count))
    arguments.append(x.all.begin(), x.all.end());
  set_results(fn, n, fn.e.call(target, arguments));
}

void emit_apply(function_state& fn, node_id n) {
  value_id const f = fn.f.operand(n, 0);
  ir::type const t = fn.type_of(f);
  ir::signature const& s = fn.p.signature_of(t);
  llvm::Function* const target = fn.program.closures.applier_for(t);
  auto const given = passed_values(fn, n, 1, fn.f[n].operand_count - 1);
  parts arguments{fn.e.machine(), fn.scalar(f)};
  if (s.calls == ir::convention::direct) {
    for (value const& x : given) arguments.append(x.all.begin(), x.all.end());
    return set_results(fn, n, fn.e.call(target, arguments));
  }
  std::uint32_t words = 0;
  for (ir::type const& each : s.parameters) words += words_of(each);
  llvm::Value* const in = fn.e.new_words(words);
  words = 0;
  for (std::size_t k = 0; k < given.size(); ++k) {
    store_words(fn.e, s.parameters[k], given[k], byte_offset(fn.e, in, 8 * words));
    words += words_of(s.parameters[k]);
  }
  words = 0;
  for (ir::type const& each : s.results) words += words_of(each);
  llvm::Value* const out = fn.e.new_words(words);
  arguments.append({in, out});
  (void)fn.e.call(target, arguments);
  words = 0;
  for (value_id const v : fn.f.results_of(n)) {
    fn.set(v, load_words(fn.e, fn.type_of(v), byte_offset(fn.e, out, 8 * words)));
    words += words_of(fn.type_of(v));
  }
}

// A function value is a buffer: {index of the function, number of captured words, the words}.
void emit_closure(function_state& fn, node_id n) {
  std::uint32_t const captured = fn.f[n].operand_count;
  std::uint32_t const closure =
      fn.program.closures.closure_number(fn.f[n].attributes.callee(), captured, fn.type_of(fn.f.result(n)));
  std::uint32_t words = 0;
  for (value_id const v : fn.f.operands_of(n)) words += words_of(fn.type_of(v));
  llvm::Value* const made =
      fn.e.call(runtime_function::take, {fn.e.machine(), fn.e.integer(8 * (2 + std::int64_t{words}))});
  llvm::Value* to = byte_offset(fn.e, made, sizeof(execute::buffer));
  fn.b.CreateAlignedStore(fn.e.integer(closure), to, llvm::Align(8));
  fn.b.CreateAlignedStore(fn.e.integer(words), byte_offset(fn.e, to, 8), llvm::Align(8));
  to = byte_offset(fn.e, to, 16);
  for (std::uint32_t k = 0; k < captured; ++k) {
    ir::type const t = fn.type_of(fn.f.operand(n, k));
    store_words(fn.e, t, passed(fn, n, k), to);
    to = byte_offset(fn.e, to, 8 * words_of(t));
  }
  fn.set(fn.f.result(n), made);
}

void emit_host(function_state& fn, node_id n) {
  bool const is_sample = fn.f[n].code == ir::op::sample;
  std::vector<execute::offset> offsets;
  std::uint32_t words = 0;
  auto const add = [&](value_id v) {
    offsets.push_back(8 * words);
    words += words_of(fn.type_of(v));
  };
  for (value_id const v : fn.f.operands_of(n)) add(v);
  for (value_id const v : fn.f.results_of(n)) add(v);
  llvm::Value* const frame = fn.e.new_words(words + 1);
  std::size_t k = 0;
  for (value_id const v : fn.f.operands_of(n))
    store_words(fn.e, fn.type_of(v), fn.get(v), byte_offset(fn.e, frame, offsets[k++]));
  std::uint32_t const number = fn.program.hosts.add(fn.p, {fn.id, n});
  (void)fn.e.call(
      is_sample ? runtime_function::sample : runtime_function::host,
      {fn.e.machine(), frame, fn.b.getInt32(fn.program.hosts.add_offsets(offsets)), fn.b.getInt32(number)});
  for (value_id const v : fn.f.results_of(n))
    fn.set(v, load_words(fn.e, fn.type_of(v), byte_offset(fn.e, frame, offsets[k++])));
}

void emit_assert(function_state& fn, node_id n) {
  fn.e.require(
      fn.scalar(fn.f.operand(n, 0)), runtime_function::throw_assertion,
      {text_constant(fn, fn.p.text(fn.f[n].attributes.text()))});
}

} // namespace overdub::jit
