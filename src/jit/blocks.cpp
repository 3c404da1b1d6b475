#include "blocks.hpp"

#include "bounds_checks.hpp"
#include "counted_loop.hpp"
#include "lanes.hpp"
#include "memory_access.hpp"
#include "operations.hpp"
#include "reference_counts.hpp"
#include "vector_bodies.hpp"

namespace overdub::jit {
namespace {

constexpr unsigned block_width = 8;

// Large enough that stores of the first part reach memory before the second part loads the values (no failed store
// forwarding).
constexpr unsigned block_shift = 6, block_size = 1u << block_shift;

llvm::Value* load_lanes(function_state& fn, ir::scalar s, llvm::Value* from) {
  auto* const t = llvm::FixedVectorType::get(type_in_memory(fn.e, s), block_width);
  llvm::Value* const x = fn.b.CreateAlignedLoad(t, from, fn.e.vector_alignment(t));
  return s == ir::scalar::boolean ? fn.b.CreateICmpNE(x, llvm::Constant::getNullValue(t)) : x;
}

parts emit_blocks(
    function_state& fn, node_id n, blocks_plan const& plan, std::vector<output> const& outputs,
    std::vector<summed> const& sums) {
  region_id const body = fn.f.region_at(n, 0);
  node_id const last = fn.f.yield_of(body);
  value_id const index = fn.f.argument(body, 0);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  auto const is_end = [&](value_id v) { return fn.f.is_result(v) && plan.ends[index_of(fn.f.node_of(v))]; };
  // Values in memory, contiguous for the elements of a block.
  struct crossing {
    value_id value;
    llvm::Value* memory;
  };
  std::vector<crossing> all;
  for (value_id const v : plan.crossing) {
    all.push_back({v, fn.e.new_words(block_size)});
    // The last vector may exceed the block.
    auto const bytes = std::uint64_t{block_size} * execute::word_size;
    fn.b.CreateMemSet(all.back().memory, fn.b.getInt8(0), bytes, fn.program.target.unit.alignment(bytes));
  }
  parts start;
  for (summed const& s : sums) start.push_back(no_lanes(fn.e, fn.type_of(s.result).element));
  std::vector<llvm::Value*> stored; // for each output: the lanes of the second part, until they are stored
  for (output const& o : outputs) stored.push_back(is_end(o.yielded) ? fn.e.new_words(block_size) : nullptr);

  auto const blocks = begin_loop(
      fn.e, fn.b.CreateAShr(fn.b.CreateAdd(count, fn.e.integer(block_size - 1)), fn.e.integer(block_shift)),
      start);
  llvm::Value* const first = fn.b.CreateShl(blocks.index, fn.e.integer(block_shift));
  llvm::Value* const left = fn.b.CreateSub(count, first);
  llvm::Value* const here =
      fn.b.CreateSelect(fn.b.CreateICmpSLT(left, fn.e.integer(block_size)), left, fn.e.integer(block_size));

  auto const beginnings = begin_loop(fn.e, here, {});
  llvm::Value* const i = fn.b.CreateAdd(first, beginnings.index);
  fn.set(index, i);
  for (node_id const each : fn.f.nodes_of(body)) {
    if (each == last) break;
    if (!plan.ends[index_of(each)]) emit_node(fn, each);
  }
  for (crossing const& c : all) {
    ir::scalar const s = fn.type_of(c.value).element;
    store_scalar(fn.e, s, fn.scalar(c.value), element_address(fn.e, s, c.memory, beginnings.index));
  }
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (stored[k] == nullptr) store_output(fn, outputs[k], i);
  release_after(fn, last);
  end_loop(fn.e, beginnings, {});

  parts const before = blocks.carried_parts();
  auto const vectors = begin_loop(
      fn.e, fn.b.CreateAShr(fn.b.CreateAdd(here, fn.e.integer(block_width - 1)), fn.e.integer(3)), before);
  llvm::Value* const done = fn.b.CreateShl(vectors.index, fn.e.integer(3));
  llvm::Value* const lanes = fn.b.CreateAdd(splat(fn.e, done), first_integers(fn.e));
  fn.set(index, fn.b.CreateAdd(splat(fn.e, first), lanes));
  for (crossing const& c : all) {
    ir::scalar const s = fn.type_of(c.value).element;
    fn.set(c.value, load_lanes(fn, s, element_address(fn.e, s, c.memory, done)));
  }
  for (node_id const each : fn.f.nodes_of(body))
    if (plan.ends[index_of(each)]) emit_in_vector(fn, each);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (stored[k] == nullptr) continue;
    llvm::Value* x = fn.scalar(outputs[k].yielded);
    ir::scalar const s = fn.type_of(outputs[k].yielded).element;
    if (s == ir::scalar::boolean)
      x = fn.b.CreateZExt(x, llvm::FixedVectorType::get(type_in_memory(fn.e, s), block_width));
    fn.b.CreateAlignedStore(
        x, element_address(fn.e, s, stored[k], done), fn.e.vector_alignment(x->getType()));
  }
  llvm::Value* const mask = fn.b.CreateICmpSLT(lanes, splat(fn.e, here));
  parts next;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    llvm::Value* const x = fn.b.CreateSelect(mask, in_vector(fn, sums[k].yielded), start[k]);
    next.push_back(fn.b.CreateFAdd(vectors.carried[k], x));
  }
  end_loop(fn.e, vectors, next);

  auto const giving = begin_loop(fn.e, here, {});
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (stored[k] == nullptr) continue;
    ir::scalar const s = fn.type_of(outputs[k].yielded).element;
    fn.set(outputs[k].yielded, load_scalar(fn.e, s, element_address(fn.e, s, stored[k], giving.index)));
    store_output(fn, outputs[k], fn.b.CreateAdd(first, giving.index));
  }
  end_loop(fn.e, giving, {});
  end_loop(fn.e, blocks, vectors.carried_parts());
  return blocks.carried_parts();
}

} // namespace

void emit_map_in_blocks(
    function_state& fn, node_id n, blocks_plan const& plan, std::vector<output> const& outputs,
    std::vector<summed> const& sums) {
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  parts const lanes =
      emit_versions(fn, fn.f.region_at(n, 0), count, [&] { return emit_blocks(fn, n, plan, outputs, sums); });
  for (std::size_t k = 0; k < sums.size(); ++k)
    fn.reduced[index_of(sums[k].reduction)] = fold_lanes(fn.e, lanes[k]);
}

} // namespace overdub::jit
