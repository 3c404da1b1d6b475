#include "blocks.hpp"

#include "bounds_checks.hpp"
#include "counted_loop.hpp"
#include "lanes.hpp"
#include "memory_access.hpp"
#include "operations.hpp"
#include "reference_counts.hpp"
#include "vector_bodies.hpp"

#include <algorithm>

namespace overdub::jit {
namespace {

constexpr unsigned block_width = 8;

// Large enough that stores of the first part reach memory before the second part loads the values (no failed store
// forwarding).
constexpr unsigned block_shift = 6, block_size = 1u << block_shift;

// The arrays of a block are on the stack: with more values, the map is not split.
constexpr std::size_t maximum_crossing = 64;

// A scalar operation without side effects that cannot fail.
bool is_pure_scalar(ir::function const& f, node_id n) {
  ir::op const code = f[n].code;
  if (f[n].result_count != 1) return false;
  ir::type const t = f.type_of(f.result(n));
  if (t.rank > 0 || t.element == ir::scalar::function || t.element == ir::scalar::opaque) return false;
  if (code == ir::op::convert) return true;
  if (!ir::is_elementwise(code) || code == ir::op::digamma || code == ir::op::polygamma) return false;
  return t != ir::i64 || (code != ir::op::div && code != ir::op::rem);
}

// The operations of a map's body that nothing outside of the second part depends on. Empty if none of them has a vector
// version.
std::vector<bool> vector_ends(function_state& fn, region_id body) {
  std::vector<bool> ends(fn.f.node_count());
  std::vector<node_id> nodes;
  for (node_id const n : fn.f.nodes_of(body)) nodes.push_back(n);
  node_id const last = fn.f.yield_of(body);
  bool gains = false;
  for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
    if (*at == last || !is_pure_scalar(fn.f, *at)) continue;
    bool is_end = true;
    for (ir::use_id const u : fn.f.uses_of(fn.f.result(*at)))
      is_end = is_end && (fn.f[u].user == last || ends[index_of(fn.f[u].user)]);
    ends[index_of(*at)] = is_end;
    gains =
        gains ||
        (is_end && fn.program.elementary.has_vectors(fn.f[*at].code, fn.type_of(fn.f.result(*at)).element));
  }
  if (!gains) ends.clear();
  return ends;
}

// The values that the first part passes to the second.
value_ids crossing_values(
    function_state& fn, region_id body, std::vector<bool> const& ends, std::vector<summed> const& sums) {
  value_ids all;
  auto const look = [&](value_id v) {
    if (!fn.f.is_result(v) || ends[index_of(fn.f.node_of(v))] || fn.f.region_of(v) != body) return;
    if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
  };
  for (node_id const n : fn.f.nodes_of(body))
    if (ends[index_of(n)] && all.size() <= maximum_crossing)
      for (value_id const v : fn.f.operands_of(n)) look(v);
  for (summed const& s : sums) look(s.yielded);
  return all;
}

llvm::Value* load_lanes(function_state& fn, ir::scalar s, llvm::Value* from) {
  auto* const t = llvm::FixedVectorType::get(type_in_memory(fn.e, s), block_width);
  llvm::Value* const x = fn.b.CreateAlignedLoad(t, from, fn.e.vector_alignment(t));
  return s == ir::scalar::boolean ? fn.b.CreateICmpNE(x, llvm::Constant::getNullValue(t)) : x;
}

parts emit_blocks(
    function_state& fn, node_id n, std::vector<bool> const& ends, value_ids const& crosses,
    std::vector<output> const& outputs, std::vector<summed> const& sums) {
  region_id const body = fn.f.region_at(n, 0);
  node_id const last = fn.f.yield_of(body);
  value_id const index = fn.f.argument(body, 0);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  auto const is_end = [&](value_id v) { return fn.f.is_result(v) && ends[index_of(fn.f.node_of(v))]; };
  // Values in memory, contiguous for the elements of a block.
  struct crossing {
    value_id value;
    llvm::Value* memory;
  };
  std::vector<crossing> all;
  for (value_id const v : crosses) {
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
    if (!ends[index_of(each)]) emit_node(fn, each);
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
    if (ends[index_of(each)]) emit_in_vector(fn, each);
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

bool emit_map_in_blocks(
    function_state& fn, node_id n, std::vector<output> const& outputs, std::vector<summed> const& sums) {
  region_id const body = fn.f.region_at(n, 0);
  if (fn.program.how.optimisation < 2 || fn.p.math == ir::math_mode::exact) return false;
  for (summed const& s : sums)
    if (fn.type_of(s.result).element == ir::scalar::i64) return false;
  auto const ends = vector_ends(fn, body);
  if (ends.empty()) return false;
  value_ids const crosses = crossing_values(fn, body, ends, sums);
  if (crosses.size() + outputs.size() > maximum_crossing) return false;
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  // LLVM vectorises straight-line bodies itself.
  if (sums.empty())
    if (auto const checks = plan_checks(fn, body); checks && is_vectorisable(fn, body, *checks)) return false;
  parts const lanes =
      emit_versions(fn, body, count, [&] { return emit_blocks(fn, n, ends, crosses, outputs, sums); });
  for (std::size_t k = 0; k < sums.size(); ++k)
    fn.reduced[index_of(sums[k].reduction)] = fold_lanes(fn.e, lanes[k]);
  return true;
}

} // namespace overdub::jit
