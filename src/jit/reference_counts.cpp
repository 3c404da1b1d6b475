#include "reference_counts.hpp"

#include "memory_access.hpp"
#include "retain_release.hpp"

#include <overdub/implementation/execute/buffer.hpp>

#include <utility>

namespace overdub::jit {
namespace {

// Arrays that are not created, and rows of others, have no owner.
void release(function_state& fn, value_id v) {
  if (!llvm::isa<llvm::ConstantPointerNull>(fn.owner_of(v)))
    (void)fn.e.call(releaser(fn.program.functions, fn.type_of(v)), {fn.e.machine(), fn.owner_of(v)});
}

} // namespace

void release_after(function_state& fn, node_id n) {
  for (value_id const v : fn.counts.released_after(n)) release(fn, v);
}

void release_on_entry(function_state& fn, region_id r) {
  for (value_id const v : fn.counts.released_on_entry(r)) release(fn, v);
}

value passed(function_state& fn, node_id n, std::uint32_t operand) {
  value_id const v = fn.f.operand(n, operand);
  if (fn.counts.retains(n, operand)) retain_owner(fn, fn.owner_of(v));
  return fn.get(v);
}

std::vector<value> passed_values(function_state& fn, node_id n, std::uint32_t first, std::uint32_t count) {
  std::vector<value> all;
  for (std::uint32_t k = 0; k < count; ++k) all.push_back(passed(fn, n, first + k));
  return all;
}

void retain_owner(function_state& fn, llvm::Value* owner) {
  (void)fn.e.call(retainer(fn.program.functions), {owner});
}

void make_part(function_state& fn, node_id n, parts all) {
  if (fn.counts.retains(n, 0)) retain_owner(fn, fn.owner_of(fn.f.operand(n, 0)));
  fn.set(fn.f.result(n), value{std::move(all)});
}

value reuse_array(function_state& fn, node_id n, bool writes) {
  if (!writes) return passed(fn, n, 0);
  value_id const array = fn.f.operand(n, 0);
  ir::type const t = fn.type_of(array);
  value x = fn.get(array);
  if (fn.counts.transfers(n, 0)) {
    if (!fn.counts.is_unique(n, 0)) make_unique(fn, t, x);
    return x;
  }
  llvm::Value* const made = fn.e.call(
      runtime_function::copied, {fn.e.machine(), x.elements(), fn.e.null(), byte_count(fn, t, x, 0)});
  x.all[0] = byte_offset(fn.e, made, sizeof(execute::buffer));
  x.all[1] = made;
  return x;
}

void make_unique(function_state& fn, ir::type t, value& x) {
  block const look = fn.e.new_block("counted"), copy = fn.e.new_block("copy"), next = fn.e.new_block("own");
  fn.b.CreateCondBr(fn.b.CreateICmpEQ(x.owner(), fn.e.null()), copy, look);
  fn.e.at(look);
  llvm::Value* const count = fn.b.CreateAlignedLoad(fn.b.getInt64Ty(), x.owner(), llvm::Align(8));
  fn.b.CreateCondBr(fn.b.CreateICmpEQ(count, fn.e.integer(1)), next, copy);
  fn.e.at(copy);
  llvm::Value* const made =
      fn.e.call(runtime_function::copied, {fn.e.machine(), x.elements(), x.owner(), byte_count(fn, t, x, 0)});
  llvm::Value* const elements = byte_offset(fn.e, made, sizeof(execute::buffer));
  block const copied = fn.b.GetInsertBlock();
  fn.e.go(next);
  fn.e.at(next);
  auto* const new_elements = fn.b.CreatePHI(fn.e.pointer(), 2);
  new_elements->addIncoming(x.elements(), look);
  new_elements->addIncoming(elements, copied);
  auto* const new_owner = fn.b.CreatePHI(fn.e.pointer(), 2);
  new_owner->addIncoming(x.owner(), look);
  new_owner->addIncoming(made, copied);
  x.all[0] = new_elements;
  x.all[1] = new_owner;
}

llvm::Value* byte_count(function_state& fn, ir::type t, value const& x, std::uint32_t first_axis) {
  llvm::Value* bytes = fn.e.integer(execute::size_of(t.element));
  for (std::uint32_t k = first_axis; k < t.rank; ++k) bytes = fn.b.CreateMul(bytes, x.extent(k));
  return bytes;
}

} // namespace overdub::jit
