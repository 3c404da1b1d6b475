#include "outputs.hpp"

#include "arrays.hpp"
#include "memory_access.hpp"

#include <overdub/ir/regions.hpp>

namespace overdub::jit {

output new_output(function_state& fn, value_id result, value_id yielded, llvm::Value* count, ir::op code) {
  ir::type const t = fn.type_of(result);
  output o{result, yielded};
  if (auto const& row = fn.rows[index_of(result)]) {
    require_not_negative(fn, code, count);
    llvm::Value* const first = fn.b.CreateNSWMul(fn.scalar(row->index), row->extent);
    llvm::Value* const none = fn.e.null();
    o.made = value{{element_address(fn.e, t.element, row->elements, first), none, count}};
    return o;
  }
  if (t.rank == 1) {
    o.made = new_array(fn, t, count, code);
    return o;
  }
  o.words = fn.e.new_words(2 * words_of(t));
  (void)fn.e.call(
      runtime_function::make_rows, {fn.e.machine(), o.words, count, shape_code(fn.e, t), fn.number(code)});
  return o;
}

void store_output(function_state& fn, output const& o, llvm::Value* index) {
  ir::type const t = fn.type_of(o.result);
  if (o.is_filled) return;
  value const x = fn.get(o.yielded);
  if (t.rank == 1)
    return store_scalar(
        fn.e, t.element, x.all[0], element_address(fn.e, t.element, o.made.elements(), index));
  llvm::Value* const row = byte_offset(fn.e, o.words, 8 * words_of(t));
  store_words(fn.e, t.element_type(), x, row);
  (void)fn.e.call(
      runtime_function::store_row,
      {fn.e.machine(), o.words, index, row, shape_code(fn.e, t), fn.number(ir::op::map)});
}

void finish_output(function_state& fn, output const& o) {
  fn.set(o.result, o.words == nullptr ? o.made : load_words(fn.e, fn.type_of(o.result), o.words));
}

bool can_fill_row(function_state const& fn, value_id yielded, region_id body) {
  if (!fn.program.is_repeatable || fn.type_of(yielded).rank != 1 || !fn.f.is_result(yielded) ||
      fn.f.region_of(yielded) != body)
    return false;
  node_id const maker = fn.f.node_of(yielded), last = fn.f.yield_of(body);
  if (fn.f[maker].code != ir::op::map || !ir::is_once_in(fn.f, yielded, last)) return false;
  for (ir::use_id const u : fn.f.uses_of(yielded))
    if (fn.f[u].user != last && !ir::is_only_read_by(fn.f, yielded, fn.f[u].user)) return false;
  value_id const size = fn.f.operand(maker, 0);
  return !ir::is_defined_in(fn.f, size, body);
}

void fill_rows(function_state& fn, output& o, region_id body, llvm::Value* count) {
  ir::type const t = fn.type_of(o.result);
  llvm::Value* const size = fn.scalar(fn.f.operand(fn.f.node_of(o.yielded), 0));
  // If that allocation fails, the first iteration may still throw another error first.
  llvm::Value* const numbers = fn.b.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, count, size);
  llvm::Value* const some =
      fn.b.CreateICmpULT(fn.b.CreateExtractValue(numbers, 0), fn.e.integer(std::int64_t{1} << 36));
  fn.program.needs.interpreter = true;
  fn.e.require(
      fn.b.CreateOr(
          fn.b.CreateAnd(some, fn.b.CreateNot(fn.b.CreateExtractValue(numbers, 1))),
          fn.b.CreateICmpSLT(size, fn.e.integer(0))),
      runtime_function::throw_fails_ahead, {});
  // A negative size fails in the first iteration.
  llvm::Value* const extent = fn.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, size, fn.e.integer(0));
  llvm::Value* const words = fn.e.new_words(words_of(t));
  fn.b.CreateAlignedStore(count, byte_offset(fn.e, words, 16), llvm::Align(8));
  fn.b.CreateAlignedStore(extent, byte_offset(fn.e, words, 24), llvm::Align(8));
  (void)fn.e.call(
      runtime_function::make_array, {fn.e.machine(), words, shape_code(fn.e, t), fn.number(ir::op::map)});
  o.made = load_words(fn.e, t, words);
  o.is_filled = true;
  fn.rows[index_of(o.yielded)] = row_place{o.made.elements(), extent, fn.f.argument(body, 0)};
}

} // namespace overdub::jit
