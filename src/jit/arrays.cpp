#include "arrays.hpp"

#include "bounds_checks.hpp"
#include "counted_loop.hpp"
#include "memory_access.hpp"
#include "reference_counts.hpp"
#include "scalars.hpp"

#include <overdub/implementation/execute/buffer.hpp>
#include <overdub/implementation/ir/operands.hpp>

namespace overdub::jit {
namespace {

void require_index(function_state& fn, ir::op code, llvm::Value* i, llvm::Value* size) {
  fn.e.require(fn.b.CreateICmpULT(i, size), runtime_function::throw_index, {fn.number(code), i, size});
}

// The offset, in scalars, of the part of an array that the leading operands select.
llvm::Value* part_index(function_state& fn, node_id n, value const& array, std::uint32_t indices) {
  std::uint32_t const rank = fn.type_of(fn.f.operand(n, 0)).rank;
  llvm::Value* at = nullptr;
  for (std::uint32_t k = 0; k < indices; ++k) {
    llvm::Value* const i = fn.scalar(fn.f.operand(n, 1 + k));
    if (!fn.in_range.has(n, k)) require_index(fn, fn.f[n].code, i, array.extent(k));
    at = at == nullptr ? i : fn.b.CreateNSWAdd(fn.b.CreateNSWMul(at, array.extent(k)), i);
  }
  for (std::uint32_t k = indices; k < rank; ++k) at = fn.b.CreateNSWMul(at, array.extent(k));
  return at;
}

// Checks that the extents of an array, from an axis on, equal those of the part.
void require_shape(
    function_state& fn, ir::op code, ir::type t, value const& array, std::uint32_t first, value const& part) {
  for (std::uint32_t k = first; k < t.rank; ++k) {
    llvm::Value *const wanted = array.extent(k), *const found = part.extent(k - first);
    fn.e.require(
        fn.b.CreateICmpEQ(wanted, found), runtime_function::throw_sizes, {fn.number(code), wanted, found});
  }
}

} // namespace

value new_array(function_state& fn, ir::type t, llvm::Value* count, ir::op code) {
  llvm::Value* const owner = fn.e.call(
      runtime_function::take_array,
      {fn.e.machine(), count, fn.e.integer(execute::size_of(t.element)), fn.number(code)});
  return {{byte_offset(fn.e, owner, sizeof(execute::buffer)), owner, count}};
}

void require_not_negative(function_state& fn, ir::op code, llvm::Value* n) {
  fn.e.require(
      fn.b.CreateICmpSGE(n, fn.e.integer(0)), runtime_function::throw_negative, {fn.number(code), n});
}

llvm::Value* common_length(function_state& fn, std::span<value_id const> arrays, ir::op code) {
  llvm::Value* const n = fn.get(arrays[0]).extent(0);
  for (value_id const other : arrays.subspan(1)) {
    llvm::Value* const size = fn.get(other).extent(0);
    fn.e.require(fn.b.CreateICmpEQ(n, size), runtime_function::throw_sizes, {fn.number(code), n, size});
  }
  return n;
}

void emit_array(function_state& fn, node_id n) {
  value_id const result = fn.f.result(n);
  ir::type const t = fn.type_of(result);
  std::uint32_t const count = fn.f[n].operand_count;
  if (t.rank == 1) {
    value const made = new_array(fn, t, fn.e.integer(count), ir::op::array);
    for (std::uint32_t k = 0; k < count; ++k)
      store_scalar(
          fn.e, t.element, fn.scalar(fn.f.operand(n, k)),
          byte_offset(fn.e, made.elements(), std::int64_t{k} * execute::size_of(t.element)));
    return fn.set(result, made);
  }
  llvm::Value* const words = fn.e.new_words(2 * words_of(t));
  llvm::Value* const row = byte_offset(fn.e, words, 8 * words_of(t));
  (void)fn.e.call(
      runtime_function::make_rows,
      {fn.e.machine(), words, fn.e.integer(count), shape_code(fn.e, t), fn.number(ir::op::array)});
  for (std::uint32_t k = 0; k < count; ++k) {
    store_words(fn.e, t.element_type(), fn.get(fn.f.operand(n, k)), row);
    (void)fn.e.call(
        runtime_function::store_row,
        {fn.e.machine(), words, fn.e.integer(k), row, shape_code(fn.e, t), fn.number(ir::op::array)});
  }
  fn.set(result, load_words(fn.e, t, words));
}

void emit_length(function_state& fn, node_id n) {
  value_ids arrays;
  for (value_id const v : fn.f.operands_of(n)) arrays.push_back(v);
  fn.set(fn.f.result(n), common_length(fn, arrays, ir::op::length));
}

void emit_at(function_state& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n);
  ir::type const t = fn.type_of(array);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  value const a = fn.get(array);
  llvm::Value* const first = element_address(fn.e, t.element, a.elements(), part_index(fn, n, a, indices));
  if (indices == t.rank) return fn.set(result, load_scalar(fn.e, t.element, first));
  parts part{first, a.owner()};
  for (std::uint32_t k = indices; k < t.rank; ++k) part.push_back(a.extent(k));
  make_part(fn, n, std::move(part));
}

void emit_slice(function_state& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0);
  ir::type const t = fn.type_of(array);
  value const a = fn.get(array);
  llvm::Value *const first = fn.scalar(fn.f.operand(n, 1)), *const count = fn.scalar(fn.f.operand(n, 2));
  llvm::Value* const size = a.extent(0);
  require_not_negative(fn, ir::op::slice, count);
  fn.e.require(
      fn.b.CreateICmpULE(first, size), runtime_function::throw_index,
      {fn.number(ir::op::slice), first, size});
  fn.e.require( // the first missing index
      fn.b.CreateICmpSLE(count, fn.b.CreateSub(size, first)), runtime_function::throw_index,
      {fn.number(ir::op::slice), size, size});
  llvm::Value* at = first;
  for (std::uint32_t k = 1; k < t.rank; ++k) at = fn.b.CreateMul(at, a.extent(k));
  parts part{element_address(fn.e, t.element, a.elements(), at), a.owner(), count};
  llvm::Value* const is_empty = t.rank > 1 ? fn.b.CreateICmpEQ(count, fn.e.integer(0)) : nullptr;
  for (std::uint32_t k = 1; k < t.rank; ++k)
    part.push_back(fn.b.CreateSelect(is_empty, fn.e.integer(0), a.extent(k)));
  make_part(fn, n, std::move(part));
}

void emit_update(function_state& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0);
  ir::type const t = fn.type_of(array);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  value const x = fn.get(fn.f.operand(n, indices + 1));
  value const before = fn.get(array);
  llvm::Value* const i = part_index(fn, n, before, indices);
  if (indices < t.rank) require_shape(fn, ir::op::update, t, before, indices, x);
  value made = reuse_array(fn, n, true);
  llvm::Value* const to = element_address(fn.e, t.element, made.elements(), i);
  if (indices == t.rank)
    store_scalar(fn.e, t.element, x.all[0], to);
  else
    fn.b.CreateMemMove(to, llvm::Align(1), x.elements(), llvm::Align(1), byte_count(fn, t, made, indices));
  fn.set(fn.f.result(n), std::move(made));
}

void emit_add_to(function_state& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0);
  ir::type const t = fn.type_of(array);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  value const x = fn.get(fn.f.operand(n, indices + 1)), a = fn.get(array);
  llvm::Value* const to = element_address(fn.e, t.element, a.elements(), part_index(fn, n, a, indices));
  auto const add = [&](llvm::Value* place, llvm::Value* what) {
    store_scalar(
        fn.e, t.element,
        elementwise(fn, ir::op::add, t.element, {load_scalar(fn.e, t.element, place, array), what}), place,
        array);
  };
  if (indices == t.rank) return add(to, x.all[0]);
  require_shape(fn, ir::op::add_to, t, a, indices, x);
  llvm::Value* count = fn.e.integer(1);
  for (std::uint32_t k = indices; k < t.rank; ++k) count = fn.b.CreateMul(count, a.extent(k));
  auto const loop = begin_loop(fn.e, count, {});
  add(element_address(fn.e, t.element, to, loop.index),
      load_scalar(fn.e, t.element, element_address(fn.e, t.element, x.elements(), loop.index)));
  end_loop(fn.e, loop, {});
}

void emit_fill(function_state& fn, node_id n) {
  value_id const result = fn.f.result(n);
  ir::type const t = fn.type_of(result);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  value const x = fn.get(fn.f.operand(n, 1));
  if (t.rank == 1) {
    value const made = new_array(fn, t, count, ir::op::fill);
    auto const loop = begin_loop(fn.e, count, {});
    store_scalar(fn.e, t.element, x.all[0], element_address(fn.e, t.element, made.elements(), loop.index));
    end_loop(fn.e, loop, {});
    return fn.set(result, made);
  }
  llvm::Value* const words = fn.e.new_words(2 * words_of(t));
  llvm::Value* const row = byte_offset(fn.e, words, 8 * words_of(t));
  store_words(fn.e, t.element_type(), x, row);
  (void)fn.e.call(runtime_function::fill_rows, {fn.e.machine(), words, count, row, shape_code(fn.e, t)});
  fn.set(result, load_words(fn.e, t, words));
}

void emit_iota(function_state& fn, node_id n) {
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  value const made = new_array(fn, fn.type_of(fn.f.result(n)), count, ir::op::iota);
  auto const loop = begin_loop(fn.e, count, {});
  store_scalar(
      fn.e, ir::scalar::i64, loop.index, element_address(fn.e, ir::scalar::i64, made.elements(), loop.index));
  end_loop(fn.e, loop, {});
  fn.set(fn.f.result(n), made);
}

void emit_concat(function_state& fn, node_id n) {
  ir::type const t = fn.type_of(fn.f.result(n));
  std::uint32_t const count = fn.f[n].operand_count, each = words_of(t);
  llvm::Value* const words = fn.e.new_words((count + 1) * each);
  for (std::uint32_t k = 0; k < count; ++k)
    store_words(
        fn.e, t, fn.get(fn.f.operand(n, k)), byte_offset(fn.e, words, 8 * std::int64_t{k + 1} * each));
  (void)fn.e.call(
      runtime_function::concat,
      {fn.e.machine(), words, byte_offset(fn.e, words, 8 * each), fn.b.getInt32(count), shape_code(fn.e, t)});
  fn.set(fn.f.result(n), load_words(fn.e, t, words));
}

void emit_gather(function_state& fn, node_id n) {
  ir::type const t = fn.type_of(fn.f.result(n));
  value_id const indices = fn.f.operand(n, 1);
  llvm::Value* const words = fn.e.new_words(2 * words_of(t) + words_of(fn.type_of(indices)));
  llvm::Value *const from = byte_offset(fn.e, words, 8 * words_of(t)), *const where = byte_offset(
                                                                           fn.e, words, 16 * words_of(t));
  store_words(fn.e, t, fn.get(fn.f.operand(n, 0)), from);
  store_words(fn.e, fn.type_of(indices), fn.get(indices), where);
  (void)fn.e.call(runtime_function::gather, {fn.e.machine(), words, from, where, shape_code(fn.e, t)});
  fn.set(fn.f.result(n), load_words(fn.e, t, words));
}

} // namespace overdub::jit
