#include "reference_counts.hpp"

#include "memory_access.hpp"
#include "retain_release.hpp"

#include <overdub/implementation/execute/buffer.hpp>

#include <utility>

namespace overdub::jit {
namespace {

void release(function_state& fn, value_id v) {
  (void)fn.e.call(releaser(fn.program.functions, fn.type_of(v)), {fn.e.machine(), fn.owner_of(v)});
}

} // namespace

// ---- live ranges

void begin_live_ranges(function_state& fn, value_id v, region_id r) {
  value const& x = fn.values[index_of(v)];
  if (!is_reference_counted(fn.type_of(v)) || x.borrowed || x.all.empty()) return;
  if (fn.ranges.begin(v, r) == ir::nothing) release(fn, v);
}

void end_live_ranges(function_state& fn, node_id n) {
  for (value_id const v : fn.ranges.end(n)) release(fn, v);
}

void begin_region(function_state& fn, region_id r, value_ids const& given) {
  for (value_id const v : given)
    if (fn.ranges.begin(v, r) == ir::nothing) release(fn, v);
}

// ---- transfer of references

value transferred(function_state& fn, value_id v, node_id n) {
  if (is_reference_counted(fn.type_of(v)) && !fn.ranges.transfer(v, n)) retain(fn, v);
  value given = fn.get(v);
  given.borrowed = false;
  return given;
}

std::vector<value>
transferred_yields(function_state& fn, region_id r, std::uint32_t first, std::uint32_t count) {
  node_id const last = fn.f.yield_of(r);
  std::vector<value> all;
  for (std::uint32_t k = 0; k < count; ++k)
    all.push_back(transferred(fn, fn.f.operand(last, first + k), last));
  return all;
}

std::vector<value>
initial_values(function_state& fn, node_id n, std::uint32_t first_operand, std::uint32_t count) {
  std::vector<value> all;
  for (std::uint32_t k = 0; k < count; ++k) {
    value_id const v = fn.f.operand(n, first_operand + k);
    if (is_reference_counted(fn.type_of(v)) && (fn.order.is_used_inside(v, n) || !fn.ranges.transfer(v, n)))
      retain(fn, v);
    all.push_back(fn.get(v));
    all.back().borrowed = false;
  }
  return all;
}

// ---- retain

void mark_shared(function_state& fn, value_id v) {
  fn.values[index_of(v)].unique = false;
  if (value_id const owner = fn.ranges.owner_of(v); owner != ir::nothing)
    fn.values[index_of(owner)].unique = false;
}

void retain(function_state& fn, value_id v) {
  mark_shared(fn, v);
  retain_owner(fn, fn.owner_of(v));
}

void retain_owner(function_state& fn, llvm::Value* owner) {
  (void)fn.e.call(retainer(fn.program.functions), {owner});
}

// ---- shared and unique buffers

void make_part(function_state& fn, value_id array, value_id part, parts all, node_id n) {
  value made{std::move(all)};
  value const& whole = fn.values[index_of(array)];
  value_id const owner = whole.borrowed ? fn.ranges.owner_of(array) : array;
  if (fn.ranges.can_borrow(owner, part, n)) {
    made.borrowed = true;
    fn.ranges.borrow(owner, part);
  } else if (fn.ranges.transfer(array, n))
    made.unique = whole.unique;
  else
    retain(fn, array);
  fn.set(part, std::move(made));
}

value reuse_array(function_state& fn, value_id array, node_id n, bool writes) {
  ir::type const t = fn.type_of(array);
  value x = fn.get(array);
  x.borrowed = false;
  if (fn.ranges.transfer(array, n)) {
    if (writes) make_unique(fn, t, x);
    return x;
  }
  if (!writes) {
    retain(fn, array);
    x.unique = false;
    return x;
  }
  llvm::Value* const made = fn.e.call(
      runtime_function::copied, {fn.e.machine(), x.elements(), fn.e.null(), byte_count(fn, t, x, 0)});
  x.all[0] = byte_offset(fn.e, made, sizeof(execute::buffer));
  x.all[1] = made;
  x.unique = true;
  return x;
}

void make_unique(function_state& fn, ir::type t, value& x) {
  if (x.unique) return;
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
  x.unique = true;
}

llvm::Value* byte_count(function_state& fn, ir::type t, value const& x, std::uint32_t first_axis) {
  llvm::Value* bytes = fn.e.integer(execute::size_of(t.element));
  for (std::uint32_t k = first_axis; k < t.rank; ++k) bytes = fn.b.CreateMul(bytes, x.extent(k));
  return bytes;
}

} // namespace overdub::jit
