#include "sums.hpp"

#include "arrays.hpp"
#include "bounds_checks.hpp"
#include "counted_loop.hpp"
#include "lanes.hpp"
#include "memory_access.hpp"
#include "operations.hpp"
#include "reference_counts.hpp"
#include "vector_bodies.hpp"

namespace overdub::jit {
namespace {

void emit_in_vectors(function_state& fn, region_id body, llvm::Value* index, llvm::Value* mask) {
  fn.set(fn.f.argument(body, 0), fn.b.CreateAdd(splat(fn.e, index), first_integers(fn.e)));
  for (node_id const n : fn.f.nodes_of(body)) {
    ir::op const code = fn.f[n].code;
    if (code == ir::op::yield) break;
    if (code == ir::op::length)
      emit_length(fn, n);
    else if (code == ir::op::at)
      fn.set(fn.f.result(n), load_vector(fn, n, body, index, mask));
    else
      emit_in_vector(fn, n);
  }
}

// The elements from `first` on, one by one, with partial sums in memory. Returns the partial sums.
parts emit_one_by_one(
    function_state& fn, node_id n, std::vector<summed> const& sums, std::vector<output> const& outputs,
    llvm::Value* first, parts const& entering) {
  region_id const body = fn.f.region_at(n, 0);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  std::vector<llvm::Value*> memory;
  for (llvm::Value* const x : entering) {
    memory.push_back(fn.e.new_words(8));
    fn.b.CreateAlignedStore(x, memory.back(), fn.e.vector_alignment(x->getType()));
  }
  auto const loop = begin_loop(fn.e, fn.b.CreateSub(count, first), {});
  llvm::Value* const i = fn.b.CreateAdd(first, loop.index);
  fn.set(fn.f.argument(body, 0), i);
  emit_region(fn, body);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    ir::scalar const s = fn.type_of(sums[k].result).element;
    llvm::Value* const lane = element_address(fn.e, s, memory[k], fn.b.CreateAnd(i, fn.e.integer(7)));
    store_scalar(fn.e, s, fn.b.CreateFAdd(load_scalar(fn.e, s, lane), fn.scalar(sums[k].yielded)), lane);
  }
  for (output const& o : outputs) store_output(fn, o, i);
  release_after(fn, fn.f.yield_of(body));
  end_loop(fn.e, loop, {});
  parts rest;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    llvm::Type* const t = entering[k]->getType();
    rest.push_back(fn.b.CreateAlignedLoad(t, memory[k], fn.e.vector_alignment(t)));
  }
  return rest;
}

} // namespace

void emit_vector_sums(
    function_state& fn, node_id n, check_plan const& checks, std::vector<summed> const& sums,
    std::vector<output> const& outputs) {
  region_id const body = fn.f.region_at(n, 0);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  llvm::Value* const holds = emit_checks(fn, checks, body, count);

  // Operands of indices are computed before the loop, and rematerialised where they are needed.
  parts start;
  for (summed const& s : sums) start.push_back(no_lanes(fn.e, fn.type_of(s.result).element));
  block const before = fn.b.GetInsertBlock(), vectors = fn.e.new_block("vectors"),
              one_by_one = fn.e.new_block("rest"), next = fn.e.new_block("after");
  if (holds == nullptr)
    fn.e.go(vectors);
  else
    fn.b.CreateCondBr(holds, vectors, one_by_one);
  fn.e.at(vectors);
  set_covered(fn, checks, true);
  auto const blocks = begin_loop(fn.e, fn.b.CreateAShr(count, fn.e.integer(3)), start);
  llvm::Value* const index = fn.b.CreateShl(blocks.index, fn.e.integer(3));
  emit_in_vectors(fn, body, index, nullptr);
  store_vectors(fn, outputs, index, nullptr);
  end_loop(fn.e, blocks, add_vectors(fn, sums, blocks.carried_parts(), nullptr));
  llvm::Value* const done = fn.b.CreateAnd(count, fn.e.integer(-8));
  parts lanes = blocks.carried_parts();
  bool const masks = fn.program.target.unit.has_avx;
  if (masks) {
    block const tail = fn.e.new_block("tail"), from = fn.b.GetInsertBlock(),
                joins = fn.e.new_block("vectors_done");
    fn.b.CreateCondBr(fn.b.CreateICmpSLT(done, count), tail, joins);
    fn.e.at(tail);
    llvm::Value* const mask =
        fn.b.CreateICmpULT(first_integers(fn.e), splat(fn.e, fn.b.CreateSub(count, done)));
    emit_in_vectors(fn, body, done, mask);
    store_vectors(fn, outputs, done, mask);
    parts const more = add_vectors(fn, sums, lanes, mask);
    block const end = fn.b.GetInsertBlock();
    fn.e.go(joins);
    fn.e.at(joins);
    lanes = fn.e.joined(lanes, from, more, end);
  }
  block const vectors_end = fn.b.GetInsertBlock();
  parts all = lanes;
  if (masks && holds == nullptr) {
    one_by_one->eraseFromParent();
    fn.e.go(next);
    fn.e.at(next);
  } else {
    // The remainder, or all elements if some index is out of range: one by one, with partial sums in memory.
    fn.b.CreateBr(masks ? next : one_by_one);
    fn.e.at(one_by_one);
    set_covered(fn, checks, false);
    parts entering = start;
    llvm::Value* first = fn.e.integer(0);
    if (!masks) {
      if (holds != nullptr) {
        entering = fn.e.joined(start, before, lanes, vectors_end);
        auto* const where = fn.b.CreatePHI(fn.b.getInt64Ty(), 2);
        where->addIncoming(fn.e.integer(0), before);
        where->addIncoming(done, vectors_end);
        first = where;
      } else {
        entering = lanes;
        first = done;
      }
    }
    parts const rest = emit_one_by_one(fn, n, sums, outputs, first, entering);
    block const end = fn.b.GetInsertBlock();
    fn.e.go(next);
    fn.e.at(next);
    all = masks ? fn.e.joined(lanes, vectors_end, rest, end) : rest;
  }
  for (std::size_t k = 0; k < sums.size(); ++k)
    fn.reduced[index_of(sums[k].reduction)] = fold_lanes(fn.e, all[k]);
}

} // namespace overdub::jit
