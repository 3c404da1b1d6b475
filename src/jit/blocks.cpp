// Loop fission of maps whose elements end in elementary functions with vector versions, after code that is not vectorised:
// loops, calls, data-dependent reads. In each block of elements, the first part runs element by element, the second in
// vectors of eight.
#include "function.hpp"

#include <algorithm>

namespace overdub::jit {
namespace {

constexpr unsigned width = 8;
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

} // namespace

// The operations of a map's body that nothing outside of the second part depends on. Empty if none of them has a vector
// version.
std::vector<bool> function_compiler::vector_ends(region_id body) const {
  std::vector<bool> ends(f_.node_count());
  std::vector<node_id> nodes;
  for (node_id const n : f_.nodes_of(body)) nodes.push_back(n);
  node_id const last = f_.yield_of(body);
  bool gains = false;
  for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
    if (*at == last || !is_pure_scalar(f_, *at)) continue;
    bool is_end = true;
    for (ir::use_id const u : f_.uses_of(f_.result(*at)))
      is_end = is_end && (f_[u].user == last || ends[index_of(f_[u].user)]);
    ends[index_of(*at)] = is_end;
    gains =
        gains || (is_end && shared_.elementary.has_vectors(f_[*at].code, type_of(f_.result(*at)).element));
  }
  if (!gains) ends.clear();
  return ends;
}

// The values that the first part passes to the second.
function_compiler::values function_compiler::crossing_values(
    region_id body, std::vector<bool> const& ends, std::vector<summed> const& sums) const {
  values all;
  auto const look = [&](value_id v) {
    if (!f_.is_result(v) || ends[index_of(f_.node_of(v))] || f_.region_of(v) != body) return;
    if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
  };
  for (node_id const n : f_.nodes_of(body))
    if (ends[index_of(n)] && all.size() <= maximum_crossing)
      for (value_id const v : f_.operands_of(n)) look(v);
  for (summed const& s : sums) look(s.yielded);
  return all;
}

llvm::Value* function_compiler::load_lanes(ir::scalar s, llvm::Value* from) {
  auto* const t = llvm::FixedVectorType::get(type_in_memory(s), width);
  llvm::Value* const x = b_.CreateAlignedLoad(t, from, vector_alignment(t));
  return s == ir::scalar::boolean ? b_.CreateICmpNE(x, llvm::Constant::getNullValue(t)) : x;
}

parts function_compiler::compile_blocks(
    node_id n, std::vector<bool> const& ends, values const& crosses, std::vector<output> const& outputs,
    std::vector<summed> const& sums) {
  region_id const body = f_.region_at(n, 0);
  node_id const last = f_.yield_of(body);
  value_id const index = f_.argument(body, 0);
  llvm::Value* const count = scalar(f_.operand(n, 0));
  auto const is_end = [&](value_id v) { return f_.is_result(v) && ends[index_of(f_.node_of(v))]; };
  // Values in memory, contiguous for the elements of a block.
  struct crossing {
    value_id value;
    llvm::Value* memory;
  };
  std::vector<crossing> all;
  for (value_id const v : crosses) {
    all.push_back({v, new_words(block_size)});
    // The last vector may exceed the block.
    auto const bytes = std::uint64_t{block_size} * execute::word_size;
    b_.CreateMemSet(all.back().memory, b_.getInt8(0), bytes, shared_.vectors.alignment(bytes));
  }
  parts start;
  for (summed const& s : sums) start.push_back(no_lanes(type_of(s.result).element));
  std::vector<llvm::Value*> stored; // for each output: the lanes of the second part, until they are stored
  for (output const& o : outputs) stored.push_back(is_end(o.yielded) ? new_words(block_size) : nullptr);

  auto const blocks =
      begin_loop(b_.CreateAShr(b_.CreateAdd(count, integer(block_size - 1)), integer(block_shift)), start);
  llvm::Value* const first = b_.CreateShl(blocks.index, integer(block_shift));
  llvm::Value* const left = b_.CreateSub(count, first);
  llvm::Value* const here =
      b_.CreateSelect(b_.CreateICmpSLT(left, integer(block_size)), left, integer(block_size));

  auto const beginnings = begin_loop(here, {});
  llvm::Value* const i = b_.CreateAdd(first, beginnings.index);
  set(index, i);
  for (node_id const each : f_.nodes_of(body)) {
    if (each == last) break;
    if (ends[index_of(each)]) continue;
    compile_node(each);
    finish(each);
  }
  for (crossing const& c : all) {
    ir::scalar const s = type_of(c.value).element;
    store_scalar(s, scalar(c.value), element_address(s, c.memory, beginnings.index));
  }
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (stored[k] == nullptr) store_output(outputs[k], i);
  finish(last);
  end_loop(beginnings, {});

  parts const before(blocks.carried.begin(), blocks.carried.end());
  auto const vectors = begin_loop(b_.CreateAShr(b_.CreateAdd(here, integer(width - 1)), integer(3)), before);
  llvm::Value* const done = b_.CreateShl(vectors.index, integer(3));
  llvm::Value* const lanes = b_.CreateAdd(splat(done), first_integers());
  set(index, b_.CreateAdd(splat(first), lanes));
  for (crossing const& c : all) {
    ir::scalar const s = type_of(c.value).element;
    set(c.value, load_lanes(s, element_address(s, c.memory, done)));
  }
  for (node_id const each : f_.nodes_of(body))
    if (ends[index_of(each)]) compile_in_vector(each, body);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (stored[k] == nullptr) continue;
    llvm::Value* x = scalar(outputs[k].yielded);
    ir::scalar const s = type_of(outputs[k].yielded).element;
    if (s == ir::scalar::boolean) x = b_.CreateZExt(x, llvm::FixedVectorType::get(type_in_memory(s), width));
    b_.CreateAlignedStore(x, element_address(s, stored[k], done), vector_alignment(x->getType()));
  }
  llvm::Value* const mask = b_.CreateICmpSLT(lanes, splat(here));
  parts next;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    llvm::Value* const x = b_.CreateSelect(mask, in_vector(sums[k].yielded, body), start[k]);
    next.push_back(b_.CreateFAdd(vectors.carried[k], x));
  }
  end_loop(vectors, next);

  auto const giving = begin_loop(here, {});
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (stored[k] == nullptr) continue;
    ir::scalar const s = type_of(outputs[k].yielded).element;
    set(outputs[k].yielded, load_scalar(s, element_address(s, stored[k], giving.index)));
    store_output(outputs[k], b_.CreateAdd(first, giving.index));
  }
  end_loop(giving, {});
  end_loop(blocks, parts(vectors.carried.begin(), vectors.carried.end()));
  return {blocks.carried.begin(), blocks.carried.end()};
}

bool function_compiler::compile_map_in_blocks(
    node_id n, std::vector<output> const& outputs, std::vector<summed> const& sums) {
  region_id const body = f_.region_at(n, 0);
  if (shared_.how.optimisation < 2 || p_.math == ir::math_mode::exact) return false;
  for (summed const& s : sums)
    if (type_of(s.result).element == ir::scalar::i64) return false;
  auto const ends = vector_ends(body);
  if (ends.empty()) return false;
  values const crosses = crossing_values(body, ends, sums);
  if (crosses.size() + outputs.size() > maximum_crossing) return false;
  llvm::Value* const count = scalar(f_.operand(n, 0));
  // LLVM vectorises straight-line bodies itself.
  if (sums.empty())
    if (auto const checks = hoist_checks(body, count); checks && is_vectorisable(body, *checks)) return false;
  parts const lanes =
      compile_versions(body, count, [&] { return compile_blocks(n, ends, crosses, outputs, sums); });
  for (std::size_t k = 0; k < sums.size(); ++k)
    reduced_[index_of(sums[k].reduction)] = fold_lanes(type_of(sums[k].result).element, lanes[k]);
  return true;
}

} // namespace overdub::jit
