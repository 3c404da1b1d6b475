// Operations on arrays: {elements, owner, extents}.
#include "function.hpp"

#include <overdub/implementation/execute/buffer.hpp>
#include <overdub/ir/bounds.hpp>

namespace overdub::jit {

// Allocates an array of rank 1 for `count` scalars.
value function_compiler::new_array(ir::type t, llvm::Value* count, ir::op code) {
  llvm::Value* const owner = call(
      runtime_function::take_array, {machine(), count, integer(execute::size_of(t.element)), number(code)});
  return {{byte_offset(owner, sizeof(execute::buffer)), owner, count}, true};
}

// The bytes of an array, or of its parts from an axis on.
llvm::Value* function_compiler::byte_count(ir::type t, value const& x, std::uint32_t first_axis) {
  llvm::Value* bytes = integer(execute::size_of(t.element));
  for (std::uint32_t k = first_axis; k < t.rank; ++k) bytes = b_.CreateMul(bytes, x.extent(k));
  return bytes;
}

// Whether index k (from 0) of an access needs no bounds check.
bool function_compiler::is_checked(node_id n, std::uint32_t k) const {
  return unchecked_[index_of(n)] != 0 || (k == 0 && ir::is_in_range(f_, f_.operand(n, 0), f_.operand(n, 1)));
}

// The offset, in scalars, of the part of an array that the leading operands select.
llvm::Value* function_compiler::part_index(node_id n, value const& array, std::uint32_t indices) {
  std::uint32_t const rank = type_of(f_.operand(n, 0)).rank;
  llvm::Value* at = nullptr;
  for (std::uint32_t k = 0; k < indices; ++k) {
    llvm::Value* const i = scalar(f_.operand(n, 1 + k));
    if (!is_checked(n, k)) require_index(f_[n].code, i, array.extent(k));
    at = at == nullptr ? i : b_.CreateNSWAdd(b_.CreateNSWMul(at, array.extent(k)), i);
  }
  for (std::uint32_t k = indices; k < rank; ++k) at = b_.CreateNSWMul(at, array.extent(k));
  return at;
}

void function_compiler::compile_array(node_id n) {
  value_id const result = f_.result(n);
  ir::type const t = type_of(result);
  std::uint32_t const count = f_[n].operand_count;
  if (t.rank == 1) {
    value const made = new_array(t, integer(count), ir::op::array);
    for (std::uint32_t k = 0; k < count; ++k)
      store_scalar(
          t.element, scalar(f_.operand(n, k)),
          byte_offset(made.elements(), std::int64_t{k} * execute::size_of(t.element)));
    return set(result, made);
  }
  llvm::Value* const words = new_words(2 * words_of(t));
  llvm::Value* const row = byte_offset(words, 8 * words_of(t));
  (void)call(
      runtime_function::make_rows, {machine(), words, integer(count), shape_code(t), number(ir::op::array)});
  for (std::uint32_t k = 0; k < count; ++k) {
    store_words(t.element_type(), get(f_.operand(n, k)), row);
    (void)call(
        runtime_function::store_row,
        {machine(), words, integer(k), row, shape_code(t), number(ir::op::array)});
  }
  value made = load_words(t, words);
  made.unique = true;
  set(result, std::move(made));
}

llvm::Value* function_compiler::common_length(std::span<value_id const> arrays, ir::op code) {
  llvm::Value* const n = get(arrays[0]).extent(0);
  for (value_id const other : arrays.subspan(1)) {
    llvm::Value* const size = get(other).extent(0);
    require(b_.CreateICmpEQ(n, size), runtime_function::throw_sizes, {number(code), n, size});
  }
  return n;
}
void function_compiler::compile_length(node_id n) {
  values arrays;
  for (value_id const v : f_.operands_of(n)) arrays.push_back(v);
  set(f_.result(n), common_length(arrays, ir::op::length));
}

void function_compiler::compile_at(node_id n) {
  value_id const array = f_.operand(n, 0), result = f_.result(n);
  ir::type const t = type_of(array);
  std::uint32_t const indices = f_[n].operand_count - 1;
  value const a = get(array);
  llvm::Value* const first = element_address(t.element, a.elements(), part_index(n, a, indices));
  if (indices == t.rank) return set(result, load_scalar(t.element, first));
  parts part{first, a.owner()};
  for (std::uint32_t k = indices; k < t.rank; ++k) part.push_back(a.extent(k));
  make_part(array, result, std::move(part), n);
}

void function_compiler::compile_slice(node_id n) {
  value_id const array = f_.operand(n, 0);
  ir::type const t = type_of(array);
  value const a = get(array);
  llvm::Value *const first = scalar(f_.operand(n, 1)), *const count = scalar(f_.operand(n, 2));
  llvm::Value* const size = a.extent(0);
  require_not_negative(ir::op::slice, count);
  require(b_.CreateICmpULE(first, size), runtime_function::throw_index, {number(ir::op::slice), first, size});
  require( // the first missing index
      b_.CreateICmpSLE(count, b_.CreateSub(size, first)), runtime_function::throw_index,
      {number(ir::op::slice), size, size});
  llvm::Value* at = first;
  for (std::uint32_t k = 1; k < t.rank; ++k) at = b_.CreateMul(at, a.extent(k));
  parts part{element_address(t.element, a.elements(), at), a.owner(), count};
  llvm::Value* const is_empty = t.rank > 1 ? b_.CreateICmpEQ(count, integer(0)) : nullptr;
  for (std::uint32_t k = 1; k < t.rank; ++k)
    part.push_back(b_.CreateSelect(is_empty, integer(0), a.extent(k)));
  make_part(array, f_.result(n), std::move(part), n);
}

// The array itself at its last use; else a new reference, or a copy if it will be written.
value function_compiler::reuse_array(value_id array, node_id n, bool writes) {
  ir::type const t = type_of(array);
  value x = get(array);
  x.borrowed = false;
  if (transfer_reference(array, n)) {
    if (writes) make_unique(t, x);
    return x;
  }
  if (!writes) {
    retain(array);
    x.unique = false;
    return x;
  }
  llvm::Value* const none = llvm::ConstantPointerNull::get(pointer_type(context_));
  llvm::Value* const made =
      call(runtime_function::copied, {machine(), x.elements(), none, byte_count(t, x, 0)});
  x.all[0] = byte_offset(made, sizeof(execute::buffer));
  x.all[1] = made;
  x.unique = true;
  return x;
}

// Checks that the extents of an array, from an axis on, equal those of the part.
void function_compiler::require_shape(
    ir::op code, ir::type t, value const& array, std::uint32_t first, value const& part) {
  for (std::uint32_t k = first; k < t.rank; ++k) {
    llvm::Value *const wanted = array.extent(k), *const found = part.extent(k - first);
    require(b_.CreateICmpEQ(wanted, found), runtime_function::throw_sizes, {number(code), wanted, found});
  }
}

void function_compiler::compile_update(node_id n) {
  value_id const array = f_.operand(n, 0);
  ir::type const t = type_of(array);
  std::uint32_t const indices = f_[n].operand_count - 2;
  value const x = get(f_.operand(n, indices + 1));
  value const before = get(array);
  llvm::Value* const i = part_index(n, before, indices);
  if (indices < t.rank) require_shape(ir::op::update, t, before, indices, x);
  value made = reuse_array(array, n, true);
  llvm::Value* const to = element_address(t.element, made.elements(), i);
  if (indices == t.rank)
    store_scalar(t.element, x.all[0], to);
  else
    b_.CreateMemMove(to, llvm::Align(1), x.elements(), llvm::Align(1), byte_count(t, made, indices));
  set(f_.result(n), std::move(made));
}

void function_compiler::compile_add_to(node_id n) {
  value_id const array = f_.operand(n, 0);
  ir::type const t = type_of(array);
  std::uint32_t const indices = f_[n].operand_count - 2;
  value const x = get(f_.operand(n, indices + 1)), a = get(array);
  llvm::Value* const to = element_address(t.element, a.elements(), part_index(n, a, indices));
  auto const add = [&](llvm::Value* place, llvm::Value* what) {
    store_scalar(
        t.element, elementwise(ir::op::add, t.element, {load_scalar(t.element, place, array), what}), place,
        array);
  };
  if (indices == t.rank) return add(to, x.all[0]);
  require_shape(ir::op::add_to, t, a, indices, x);
  llvm::Value* count = integer(1);
  for (std::uint32_t k = indices; k < t.rank; ++k) count = b_.CreateMul(count, a.extent(k));
  auto const loop = begin_loop(count, {});
  add(element_address(t.element, to, loop.index),
      load_scalar(t.element, element_address(t.element, x.elements(), loop.index)));
  end_loop(loop, {});
}

void function_compiler::compile_fill(node_id n) {
  value_id const result = f_.result(n);
  ir::type const t = type_of(result);
  llvm::Value* const count = scalar(f_.operand(n, 0));
  value const x = get(f_.operand(n, 1));
  if (t.rank == 1) {
    value const made = new_array(t, count, ir::op::fill);
    auto const loop = begin_loop(count, {});
    store_scalar(t.element, x.all[0], element_address(t.element, made.elements(), loop.index));
    end_loop(loop, {});
    return set(result, made);
  }
  llvm::Value* const words = new_words(2 * words_of(t));
  llvm::Value* const row = byte_offset(words, 8 * words_of(t));
  store_words(t.element_type(), x, row);
  (void)call(runtime_function::fill_rows, {machine(), words, count, row, shape_code(t)});
  value made = load_words(t, words);
  made.unique = true;
  set(result, std::move(made));
}

void function_compiler::compile_iota(node_id n) {
  llvm::Value* const count = scalar(f_.operand(n, 0));
  value const made = new_array(type_of(f_.result(n)), count, ir::op::iota);
  auto const loop = begin_loop(count, {});
  store_scalar(ir::scalar::i64, loop.index, element_address(ir::scalar::i64, made.elements(), loop.index));
  end_loop(loop, {});
  set(f_.result(n), made);
}

void function_compiler::compile_concat(node_id n) {
  ir::type const t = type_of(f_.result(n));
  std::uint32_t const count = f_[n].operand_count, each = words_of(t);
  llvm::Value* const words = new_words((count + 1) * each);
  for (std::uint32_t k = 0; k < count; ++k)
    store_words(t, get(f_.operand(n, k)), byte_offset(words, 8 * std::int64_t{k + 1} * each));
  (void)call(
      runtime_function::concat,
      {machine(), words, byte_offset(words, 8 * each), b_.getInt32(count), shape_code(t)});
  value made = load_words(t, words);
  made.unique = true;
  set(f_.result(n), std::move(made));
}

void function_compiler::compile_gather(node_id n) {
  ir::type const t = type_of(f_.result(n));
  value_id const indices = f_.operand(n, 1);
  llvm::Value* const words = new_words(2 * words_of(t) + words_of(type_of(indices)));
  llvm::Value *const from = byte_offset(words, 8 * words_of(t)), *const where =
                                                                     byte_offset(words, 16 * words_of(t));
  store_words(t, get(f_.operand(n, 0)), from);
  store_words(type_of(indices), get(indices), where);
  (void)call(runtime_function::gather, {machine(), words, from, where, shape_code(t)});
  value made = load_words(t, words);
  made.unique = true;
  set(f_.result(n), std::move(made));
}

} // namespace overdub::jit
