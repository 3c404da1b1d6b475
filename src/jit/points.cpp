#include "points.hpp"

#include "affine_index.hpp"
#include "arrays.hpp"
#include "bounds_checks.hpp"
#include "counted_loop.hpp"
#include "lanes.hpp"
#include "look_ahead.hpp"
#include "memory_access.hpp"
#include "scalars.hpp"
#include "vector_bodies.hpp"

#include <overdub/implementation/ir/only_reduction.hpp>
#include <overdub/ir/regions.hpp>

#include <algorithm>
#include <utility>

namespace overdub::jit {
namespace {

constexpr std::int64_t at_once = 8; // elements

// With more terms, a vectorised inner sum is faster; the second limit is for elements that are read with a stride.
constexpr std::int64_t maximum_terms = 16, maximum_strided_terms = 4;

// Complete trees of descending sizes, for any number of elements.
constexpr std::uint32_t maximum_trees = 64;

void emit_in_points(function_state& fn, region_id r, region_id body, llvm::Value* index, llvm::Value* mask);

// An operation without a vector version.
void emit_by_element(function_state& fn, node_id n) {
  ir::scalar const s = fn.type_of(fn.f.result(n)).element;
  auto const new_lanes = [&](ir::scalar of) {
    auto* const t = llvm::FixedVectorType::get(fn.e.type(of), at_once);
    return std::pair{t, fn.e.new_words(at_once)};
  };
  std::vector<llvm::Value*> memory;
  for (value_id const v : fn.f.operands_of(n)) {
    auto const [t, lanes] = new_lanes(fn.type_of(v).element);
    fn.b.CreateAlignedStore(in_vector(fn, v), lanes, fn.e.vector_alignment(t));
    memory.push_back(lanes);
  }
  auto const [t, made] = new_lanes(s);
  auto const loop = begin_loop(fn.e, fn.e.integer(at_once), {});
  parts x;
  for (std::uint32_t k = 0; k < fn.f[n].operand_count; ++k) {
    ir::scalar const of = fn.type_of(fn.f.operand(n, k)).element;
    x.push_back(load_scalar(fn.e, of, element_address(fn.e, of, memory[k], loop.index)));
  }
  store_scalar(fn.e, s, elementwise(fn, fn.f[n].code, s, x), element_address(fn.e, s, made, loop.index));
  end_loop(fn.e, loop, {});
  fn.set(fn.f.result(n), fn.b.CreateAlignedLoad(t, made, fn.e.vector_alignment(t)));
}

void emit_loop_in_points(
    function_state& fn, node_id n, region_id body, llvm::Value* index, llvm::Value* mask) {
  region_id const iteration = fn.f.region_at(n, 0);
  std::uint32_t const carried = fn.f[n].result_count;
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  parts start;
  for (std::uint32_t k = 0; k < carried; ++k) start.push_back(in_vector(fn, fn.f.operand(n, 1 + k)));
  auto const loop = begin_loop(fn.e, count, start);
  llvm::Value* i = loop.index;
  if (fn.f[n].attributes.is_reversed()) i = fn.b.CreateSub(fn.b.CreateSub(count, fn.e.integer(1)), i);
  fn.set(fn.f.argument(iteration, 0), i);
  for (std::uint32_t k = 0; k < carried; ++k) fn.set(fn.f.argument(iteration, 1 + k), loop.carried[k]);
  emit_in_points(fn, iteration, body, index, mask);
  parts next;
  for (std::uint32_t k = 0; k < carried; ++k)
    next.push_back(in_vector(fn, fn.f.operand(fn.f.yield_of(iteration), k)));
  end_loop(fn.e, loop, next);
  for (std::uint32_t k = 0; k < carried; ++k) fn.set(fn.f.result(n, k), loop.carried[k]);
}

// A map whose results are reduced, in the order of reduce.cpp: sums of floating-point numbers in eight partial sums,
// each a vector with a lane for each element; other reductions in complete trees, combined when two have one size.
void emit_map_in_points(
    function_state& fn, node_id n, region_id body, llvm::Value* index, llvm::Value* mask) {
  region_id const iteration = fn.f.region_at(n, 0);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  struct reduced {
    node_id reduction;
    ir::scalar type;
    ir::op code;
    bool is_in_lanes;
    llvm::Value* memory;
    llvm::Type* vector;
  };
  std::vector<reduced> all;
  auto const place = [&](reduced const& r, llvm::Value* number) {
    return fn.b.CreateGEP(r.vector, r.memory, number);
  };
  auto const load = [&](reduced const& r, llvm::Value* number) {
    return fn.b.CreateAlignedLoad(r.vector, place(r, number), fn.e.vector_alignment(r.vector));
  };
  auto const store = [&](reduced const& r, llvm::Value* x, llvm::Value* number) {
    fn.b.CreateAlignedStore(x, place(r, number), fn.e.vector_alignment(r.vector));
  };
  auto const combined = [&](reduced const& r, llvm::Value* x, llvm::Value* y) {
    return elementwise(fn, r.code, r.type, {x, y});
  };
  for (std::uint32_t k = 0; k < fn.f[n].result_count; ++k) {
    node_id const reduction = vector_reduction_of(fn, fn.f.result(n, k));
    ir::scalar const s = fn.type_of(fn.f.result(n, k)).element;
    ir::op const code = fn.f[reduction].attributes.operation;
    bool const is_in_lanes = code == ir::op::add && s != ir::scalar::i64;
    all.push_back(
        {reduction, s, code, is_in_lanes, fn.e.new_words((is_in_lanes ? at_once : maximum_trees) * at_once),
         llvm::FixedVectorType::get(fn.e.type(s), at_once)});
    if (is_in_lanes)
      for (std::int64_t lane = 0; lane < at_once; ++lane)
        store(all.back(), no_lanes(fn.e, s), fn.e.integer(lane));
  }
  auto const trees_of = [&](llvm::Value* elements) { // one for each set bit of the number of elements
    return fn.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, elements);
  };

  auto const loop = begin_loop(fn.e, count, {});
  fn.set(fn.f.argument(iteration, 0), loop.index);
  emit_in_points(fn, iteration, body, index, mask);
  for (std::uint32_t k = 0; k < fn.f[n].result_count; ++k) {
    reduced const& r = all[k];
    llvm::Value* const x = in_vector(fn, fn.f.operand(fn.f.yield_of(iteration), k));
    if (r.is_in_lanes) {
      llvm::Value* const lane = fn.b.CreateAnd(loop.index, fn.e.integer(at_once - 1));
      store(r, fn.b.CreateFAdd(load(r, lane), x), lane);
      continue;
    }
    llvm::Value* const trees = trees_of(loop.index);
    llvm::Value* const merges = fn.b.CreateBinaryIntrinsic(
        llvm::Intrinsic::cttz, fn.b.CreateAdd(loop.index, fn.e.integer(1)), fn.b.getTrue());
    auto const merging = begin_loop(fn.e, merges, {x});
    llvm::Value* const last = fn.b.CreateSub(fn.b.CreateSub(trees, fn.e.integer(1)), merging.index);
    end_loop(fn.e, merging, {combined(r, load(r, last), merging.carried[0])});
    store(r, merging.carried[0], fn.b.CreateSub(trees, merges));
  }
  end_loop(fn.e, loop, {});

  for (reduced const& r : all) {
    if (r.is_in_lanes) {
      llvm::Value* x[at_once];
      for (std::int64_t lane = 0; lane < at_once; ++lane) x[lane] = load(r, fn.e.integer(lane));
      for (std::int64_t half = at_once / 2; half > 0; half /= 2)
        for (std::int64_t lane = 0; lane < half; ++lane) x[lane] = fn.b.CreateFAdd(x[lane], x[lane + half]);
      fn.reduced[index_of(r.reduction)] = x[0];
      continue;
    }
    // Without elements, the value is unused.
    llvm::Value* const top = fn.b.CreateSub(trees_of(count), fn.e.integer(1));
    llvm::Value* const first = fn.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, top, fn.e.integer(0));
    auto const folding = begin_loop(fn.e, top, {load(r, first)});
    llvm::Value* const left = fn.b.CreateSub(fn.b.CreateSub(top, fn.e.integer(1)), folding.index);
    end_loop(fn.e, folding, {combined(r, load(r, left), folding.carried[0])});
    fn.reduced[index_of(r.reduction)] = folding.carried[0];
  }
}

void emit_reduce_in_points(function_state& fn, node_id n) {
  llvm::Value* x = std::exchange(fn.reduced[index_of(n)], nullptr);
  value_id const array = fn.f.operand(n, 0);
  ir::scalar const s = fn.type_of(array).element;
  ir::op const code = fn.f[n].attributes.operation;
  if (fn.f[n].attributes.is_started()) {
    llvm::Value* const initial = in_vector(fn, fn.f.operand(n, 1));
    llvm::Value* const none =
        fn.b.CreateICmpEQ(fn.scalar(fn.f.operand(fn.f.node_of(array), 0)), fn.e.integer(0));
    llvm::Value* const all = elementwise(fn, code, s, {initial, x});
    // An empty floating-point sum is -0.0 here, the identity of addition.
    x = code == ir::op::add && s != ir::scalar::i64 ? all : fn.b.CreateSelect(none, initial, all);
  }
  fn.set(fn.f.result(n), x);
}

void emit_in_points(function_state& fn, region_id r, region_id body, llvm::Value* index, llvm::Value* mask) {
  for (node_id const n : fn.f.nodes_of(r)) {
    switch (fn.f[n].code) {
    case ir::op::yield:
      return;
    case ir::op::length:
      emit_length(fn, n);
      break;
    case ir::op::at:
      fn.set(fn.f.result(n), load_vector(fn, n, body, index, mask));
      break;
    case ir::op::map:
      emit_map_in_points(fn, n, body, index, mask);
      break;
    case ir::op::reduce:
      emit_reduce_in_points(fn, n);
      break;
    case ir::op::loop:
      emit_loop_in_points(fn, n, body, index, mask);
      break;
    case ir::op::convert:
      emit_in_vector(fn, n);
      break;
    default:
      if (is_light(fn, fn.f[n].code, fn.type_of(fn.f.result(n))))
        emit_in_vector(fn, n);
      else
        emit_by_element(fn, n);
    }
  }
}

// Elements from `index` on; with a mask, only those of the mask.
parts emit_eight_points(
    function_state& fn, region_id body, llvm::Value* index, llvm::Value* mask,
    llvm::ArrayRef<llvm::Value*> lanes, std::vector<output> const& outputs, std::vector<summed> const& sums) {
  fn.set(fn.f.argument(body, 0), fn.b.CreateAdd(splat(fn.e, index), first_integers(fn.e)));
  emit_in_points(fn, body, body, index, mask);
  store_vectors(fn, outputs, index, mask);
  return add_vectors(fn, sums, lanes, mask);
}

} // namespace

points begin_points(
    function_state& fn, node_id n, points_plan const& plan, std::vector<output> const& outputs,
    std::vector<summed> const& sums) {
  region_id const body = fn.f.region_at(n, 0);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  llvm::Value* good = fn.b.getTrue();
  for (value_id const v : plan.counts) {
    good = fn.b.CreateAnd(good, fn.b.CreateICmpSGE(fn.scalar(v), fn.e.integer(0)));
    std::int64_t const most = plan.reads_apart ? maximum_strided_terms : maximum_terms;
    if (plan.has_sums_alone)
      good = fn.b.CreateAnd(good, fn.b.CreateICmpSLE(fn.scalar(v), fn.e.integer(most)));
  }
  for (value_id const v : plan.at_least_one)
    good = fn.b.CreateAnd(good, fn.b.CreateICmpSGE(fn.scalar(v), fn.e.integer(1)));
  block const eights = fn.e.new_block("points"), elements = fn.e.new_block("elements");
  points made{nullptr, fn.e.new_block("after_points"), {}};
  fn.b.CreateCondBr(good, eights, elements);
  fn.e.at(eights);
  auto const mask_from = [&](llvm::Value* index) {
    return fn.b.CreateICmpSLT(fn.b.CreateAdd(splat(fn.e, index), first_integers(fn.e)), splat(fn.e, count));
  };
  // With masked loads, the remainder is vectorised too; else the elements after the last eight run one by one.
  bool const masks = fn.program.target.unit.has_avx;
  parts lanes;
  for (summed const& s : sums) lanes.push_back(no_lanes(fn.e, fn.type_of(s.result).element));
  llvm::Value* const room = masks ? fn.b.CreateAdd(count, fn.e.integer(at_once - 1)) : count;
  auto const blocks = begin_loop(fn.e, fn.b.CreateAShr(room, fn.e.integer(3)), lanes);
  llvm::Value* const index = fn.b.CreateShl(blocks.index, fn.e.integer(3));
  lanes = blocks.carried_parts();
  end_loop(
      fn.e, blocks,
      emit_eight_points(fn, body, index, masks ? mask_from(index) : nullptr, lanes, outputs, sums));
  if (!masks) {
    llvm::Value* const done = fn.b.CreateAnd(count, fn.e.integer(-at_once));
    block const tail = fn.e.new_block("tail"), joins = fn.e.new_block("points_done"),
                before = fn.b.GetInsertBlock();
    fn.b.CreateCondBr(fn.b.CreateICmpSLT(done, count), tail, joins);
    fn.e.at(tail);
    parts const more = emit_eight_points(fn, body, done, mask_from(done), lanes, outputs, sums);
    block const end = fn.b.GetInsertBlock();
    fn.e.go(joins);
    fn.e.at(joins);
    lanes = fn.e.joined(lanes, before, more, end);
  }
  for (std::size_t k = 0; k < sums.size(); ++k) made.sums.push_back(fold_lanes(fn.e, lanes[k]));
  made.end = fn.b.GetInsertBlock();
  fn.e.go(made.next);
  fn.e.at(elements);
  return made;
}

void end_points(function_state& fn, points const& p, std::vector<summed> const& sums) {
  block const end = fn.b.GetInsertBlock();
  fn.e.go(p.next);
  fn.e.at(p.next);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    llvm::Value*& sum = fn.reduced[index_of(sums[k].reduction)];
    sum = fn.e.joined({p.sums[k]}, p.end, {sum}, end)[0];
  }
}

} // namespace overdub::jit
