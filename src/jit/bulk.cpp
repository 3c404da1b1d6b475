// Maps.
#include "function.hpp"

namespace overdub::jit {

// The reduction of an array of numbers in its own region, if it is the only use.
node_id function_compiler::reduced_alone(value_id v) const {
  ir::type const t = type_of(v);
  if (t.rank != 1 || t.element == ir::scalar::boolean) return ir::nothing;
  node_id found = ir::nothing;
  for (ir::use_id const u : f_.uses_of(v)) {
    if (found != ir::nothing) return ir::nothing;
    found = f_[u].user;
  }
  if (found == ir::nothing || f_[found].code != ir::op::reduce || f_[found].parent != f_.region_of(v) ||
      f_[found].attributes.operation != ir::op::add)
    return ir::nothing;
  return found;
}

// Whether a map yields rows that a nested map creates, of loop-invariant size, and that are only read otherwise.
bool function_compiler::can_fill_row(value_id yielded, region_id body) const {
  if (!shared_.is_repeatable || type_of(yielded).rank != 1 || !f_.is_result(yielded) ||
      f_.region_of(yielded) != body)
    return false;
  node_id const maker = f_.node_of(yielded), last = f_.yield_of(body);
  if (f_[maker].code != ir::op::map || !is_once_in(yielded, last)) return false;
  for (ir::use_id const u : f_.uses_of(yielded))
    if (f_[u].user != last && !is_only_read_by(yielded, f_[u].user)) return false;
  value_id const size = f_.operand(maker, 0);
  return !ir::is_defined_in(f_, size, body);
}
// Allocates the array of all rows before the map.
void function_compiler::fill_rows(output& o, region_id body, llvm::Value* count) {
  ir::type const t = type_of(o.result);
  llvm::Value* const size = scalar(f_.operand(f_.node_of(o.yielded), 0));
  // If that allocation fails, the first iteration may still throw another error first.
  llvm::Value* const numbers = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, count, size);
  llvm::Value* const some =
      b_.CreateICmpULT(b_.CreateExtractValue(numbers, 0), integer(std::int64_t{1} << 36));
  shared_.looks_ahead = true;
  require(
      b_.CreateOr(
          b_.CreateAnd(some, b_.CreateNot(b_.CreateExtractValue(numbers, 1))),
          b_.CreateICmpSLT(size, integer(0))),
      runtime_function::throw_fails_ahead, {});
  // A negative size fails in the first iteration.
  llvm::Value* const extent = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, size, integer(0));
  llvm::Value* const words = new_words(words_of(t));
  b_.CreateAlignedStore(count, byte_offset(words, 16), llvm::Align(8));
  b_.CreateAlignedStore(extent, byte_offset(words, 24), llvm::Align(8));
  (void)call(runtime_function::make_array, {machine(), words, shape_code(t), number(ir::op::map)});
  o.made = load_words(t, words);
  o.is_filled = true;
  rows_[index_of(o.yielded)] = row_place{o.made.elements(), extent, f_.argument(body, 0)};
}

void function_compiler::compile_map(node_id n) {
  region_id const body = f_.region_at(n, 0);
  node_id const last = f_.yield_of(body);
  llvm::Value* const count = scalar(f_.operand(n, 0));
  std::vector<output> outputs;
  std::vector<summed> sums;
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k) {
    value_id const result = f_.result(n, k), yielded = f_.operand(last, k);
    if (node_id const reduction = reduced_alone(result); reduction != ir::nothing)
      sums.push_back({result, yielded, reduction});
    else if (can_fill_row(yielded, body)) {
      outputs.push_back({result, yielded});
      fill_rows(outputs.back(), body, count);
    } else
      outputs.push_back(new_output(result, yielded, count, ir::op::map));
  }
  if (outputs.empty()) require_not_negative(ir::op::map, count);
  for (summed const& s : sums) { // the reduction only needs the size of the array
    auto* const none = llvm::ConstantPointerNull::get(pointer_type(context_));
    set(s.result, value{{none, none, count}, false, true});
  }
  if (sums.empty() || !compile_vector_sums(n, sums, outputs)) {
    auto const eights = begin_points(n, outputs, sums);
    if (!compile_map_in_blocks(n, outputs, sums)) compile_map_by_element(n, outputs, sums);
    if (eights) end_points(*eights, sums);
  }
  for (output const& o : outputs) finish_output(o);
}

void function_compiler::compile_map_by_element(
    node_id n, std::vector<output> const& outputs, std::vector<summed> const& sums) {
  region_id const body = f_.region_at(n, 0);
  llvm::Value* const count = scalar(f_.operand(n, 0));
  // Partial sums of floating-point numbers are in memory; sums of integers are loop-carried.
  parts start;
  std::vector<llvm::Value*> lanes;
  for (summed const& s : sums) {
    ir::scalar const type = type_of(s.result).element;
    if (type == ir::scalar::i64) {
      start.push_back(integer(0));
      lanes.push_back(nullptr);
      continue;
    }
    lanes.push_back(new_words(8));
    llvm::Value* const none = no_lanes(type);
    b_.CreateAlignedStore(none, lanes.back(), vector_alignment(none->getType()));
  }
  parts const ends = compile_versions(body, count, [&] {
    auto const loop = begin_loop(count, start);
    set(f_.argument(body, 0), loop.index);
    compile_region(body);
    for (output const& o : outputs) store_output(o, loop.index);
    parts next;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      ir::scalar const type = type_of(sums[k].result).element;
      llvm::Value* const x = scalar(sums[k].yielded);
      if (type == ir::scalar::i64) {
        next.push_back(b_.CreateAdd(loop.carried[next.size()], x));
        continue;
      }
      llvm::Value* const lane = element_address(type, lanes[k], b_.CreateAnd(loop.index, integer(7)));
      store_scalar(type, b_.CreateFAdd(load_scalar(type, lane), x), lane);
    }
    finish(f_.yield_of(body));
    end_loop(loop, next);
    return parts(loop.carried.begin(), loop.carried.end());
  });
  std::size_t next = 0;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    ir::scalar const type = type_of(sums[k].result).element;
    reduced_[index_of(sums[k].reduction)] =
        type == ir::scalar::i64 ? ends[next++] : fold_stored_lanes(type, lanes[k]);
  }
}

} // namespace overdub::jit
