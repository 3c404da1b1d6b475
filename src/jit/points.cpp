// Outer-loop vectorisation of maps whose bodies have loops, or reduced maps, with a uniform trip count: eight elements at a
// time, where each value is a vector of eight. sums.cpp handles sums of many terms, by eight terms of one element at a
// time.
#include "function.hpp"

#include <algorithm>
#include <utility>

namespace overdub::jit {
namespace {

constexpr std::int64_t at_once = 8; // elements
// With more terms, a vectorised inner sum is faster; the second limit is for elements that are read with a stride.
constexpr std::int64_t maximum_terms = 16, maximum_strided_terms = 4;
// Complete trees of descending sizes, for any number of elements.
constexpr std::uint32_t maximum_trees = 64;

bool is_number(ir::type t) {
  return t.rank == 0 &&
         (t.element == ir::scalar::f64 || t.element == ir::scalar::f32 || t.element == ir::scalar::i64);
}

bool is_floating(ir::type t) { return is_number(t) && t != ir::i64; }

} // namespace

/// The requirements of loops in a map's body.
struct function_compiler::nested_loops {
  values counts{};       // trip counts, if one may be negative
  values at_least_one{}; // trip counts of reductions without an initial value
  bool has_sums_alone = true;
  bool reads_apart = false; // reads elements with a stride
};

// The reduction of a map's result, if it is the only use.
node_id function_compiler::reduction_of(value_id v) const {
  if (!is_number(type_of(v).element_type())) return ir::nothing;
  node_id found = ir::nothing;
  for (ir::use_id const u : f_.uses_of(v)) {
    if (found != ir::nothing) return ir::nothing;
    found = f_[u].user;
  }
  if (found == ir::nothing || f_[found].code != ir::op::reduce || f_[found].parent != f_.region_of(v) ||
      f_[found].attributes.operation == ir::op::none ||
      !is_light(f_[found].attributes.operation, type_of(v).element_type()))
    return ir::nothing;
  return found;
}

bool function_compiler::fits_points(region_id r, region_id body, nested_loops& found) const {
  auto const fits_count = [&](node_id n) { return !ir::is_defined_in(f_, f_.operand(n, 0), body); };
  for (node_id const n : f_.nodes_of(r)) {
    switch (ir::op const code = f_[n].code) {
    case ir::op::yield:
    case ir::op::convert:
      continue;
    case ir::op::length:
      for (value_id const v : f_.operands_of(n))
        if (ir::is_defined_in(f_, v, body)) return false;
      continue;
    case ir::op::at: {
      ir::type const t = type_of(f_.result(n));
      if (!is_number(t) || ir::is_defined_in(f_, f_.operand(n, 0), body)) return false;
      for (std::uint32_t k = 0; k + 1 < f_[n].operand_count; ++k)
        if (!is_checked(n, k)) return false;
      if (!is_read_in_line(n, body)) found.reads_apart = true;
      continue;
    }
    case ir::op::map:
      if (!fits_count(n)) return false;
      found.counts.push_back(f_.operand(n, 0));
      for (std::uint32_t k = 0; k < f_[n].result_count; ++k) {
        node_id const reduction = reduction_of(f_.result(n, k));
        if (reduction == ir::nothing) return false;
        if (!f_[reduction].attributes.is_started()) found.at_least_one.push_back(f_.operand(n, 0));
        if (f_[reduction].attributes.operation != ir::op::add) found.has_sums_alone = false;
      }
      if (!fits_points(f_.region_at(n, 0), body, found)) return false;
      continue;
    case ir::op::reduce: {
      value_id const array = f_.operand(n, 0);
      if (!f_.is_result(array) || f_.region_of(array) != r || reduction_of(array) != n ||
          f_[f_.node_of(array)].code != ir::op::map)
        return false;
      continue;
    }
    case ir::op::loop: {
      if (!fits_count(n) || ir::region_flow(f_, n).stacked() > 0) return false;
      for (std::uint32_t k = 0; k < f_[n].result_count; ++k)
        if (ir::type const t = type_of(f_.result(n, k)); !is_number(t) && t != ir::boolean) return false;
      found.has_sums_alone = false;
      if (!fits_points(f_.region_at(n, 0), body, found)) return false;
      continue;
    }
    default:
      if (!ir::is_elementwise(code)) return false;
      if (is_light(code, type_of(f_.result(n)))) continue;
      // Called for one element at a time.
      if (!is_floating(type_of(f_.result(n))) || other_of_sine_and_cosine(n) != ir::nothing) return false;
    }
  }
  return true;
}

void function_compiler::compile_in_points(
    region_id r, region_id body, llvm::Value* index, llvm::Value* mask) {
  for (node_id const n : f_.nodes_of(r)) {
    switch (f_[n].code) {
    case ir::op::yield:
      return;
    case ir::op::length:
      compile_length(n);
      break;
    case ir::op::at:
      set(f_.result(n), load_vector(n, body, index, mask));
      break;
    case ir::op::map:
      compile_map_in_points(n, body, index, mask);
      break;
    case ir::op::reduce:
      compile_reduce_in_points(n);
      break;
    case ir::op::loop:
      compile_loop_in_points(n, body, index, mask);
      break;
    case ir::op::convert:
      compile_in_vector(n, body);
      break;
    default:
      if (is_light(f_[n].code, type_of(f_.result(n))))
        compile_in_vector(n, body);
      else
        compile_by_element(n, body);
    }
  }
}

// An operation without a vector version.
void function_compiler::compile_by_element(node_id n, region_id body) {
  ir::scalar const s = type_of(f_.result(n)).element;
  auto const new_lanes = [&](ir::scalar of) {
    auto* const t = llvm::FixedVectorType::get(type(of), at_once);
    return std::pair{t, new_words(at_once)};
  };
  std::vector<llvm::Value*> memory;
  for (value_id const v : f_.operands_of(n)) {
    auto const [t, lanes] = new_lanes(type_of(v).element);
    b_.CreateAlignedStore(in_vector(v, body), lanes, vector_alignment(t));
    memory.push_back(lanes);
  }
  auto const [t, made] = new_lanes(s);
  auto const loop = begin_loop(integer(at_once), {});
  parts x;
  for (std::uint32_t k = 0; k < f_[n].operand_count; ++k) {
    ir::scalar const of = type_of(f_.operand(n, k)).element;
    x.push_back(load_scalar(of, element_address(of, memory[k], loop.index)));
  }
  store_scalar(s, elementwise(f_[n].code, s, x), element_address(s, made, loop.index));
  end_loop(loop, {});
  set(f_.result(n), b_.CreateAlignedLoad(t, made, vector_alignment(t)));
}

void function_compiler::compile_loop_in_points(
    node_id n, region_id body, llvm::Value* index, llvm::Value* mask) {
  region_id const iteration = f_.region_at(n, 0);
  std::uint32_t const carried = f_[n].result_count;
  llvm::Value* const count = scalar(f_.operand(n, 0));
  parts start;
  for (std::uint32_t k = 0; k < carried; ++k) start.push_back(in_vector(f_.operand(n, 1 + k), body));
  auto const loop = begin_loop(count, start);
  llvm::Value* i = loop.index;
  if (f_[n].attributes.is_reversed()) i = b_.CreateSub(b_.CreateSub(count, integer(1)), i);
  set(f_.argument(iteration, 0), i);
  for (std::uint32_t k = 0; k < carried; ++k) set(f_.argument(iteration, 1 + k), loop.carried[k]);
  compile_in_points(iteration, body, index, mask);
  parts next;
  for (std::uint32_t k = 0; k < carried; ++k)
    next.push_back(in_vector(f_.operand(f_.yield_of(iteration), k), body));
  end_loop(loop, next);
  for (std::uint32_t k = 0; k < carried; ++k) set(f_.result(n, k), loop.carried[k]);
}

// A map whose results are reduced, in the order of reduce.cpp: sums of floating-point numbers in eight partial sums, each a
// vector with a lane for each element; other reductions in complete trees, combined when two have one size.
void function_compiler::compile_map_in_points(
    node_id n, region_id body, llvm::Value* index, llvm::Value* mask) {
  region_id const iteration = f_.region_at(n, 0);
  llvm::Value* const count = scalar(f_.operand(n, 0));
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
    return b_.CreateGEP(r.vector, r.memory, number);
  };
  auto const load = [&](reduced const& r, llvm::Value* number) {
    return b_.CreateAlignedLoad(r.vector, place(r, number), vector_alignment(r.vector));
  };
  auto const store = [&](reduced const& r, llvm::Value* x, llvm::Value* number) {
    b_.CreateAlignedStore(x, place(r, number), vector_alignment(r.vector));
  };
  auto const combined = [&](reduced const& r, llvm::Value* x, llvm::Value* y) {
    return elementwise(r.code, r.type, {x, y});
  };
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k) {
    node_id const reduction = reduction_of(f_.result(n, k));
    ir::scalar const s = type_of(f_.result(n, k)).element;
    ir::op const code = f_[reduction].attributes.operation;
    bool const is_in_lanes = code == ir::op::add && s != ir::scalar::i64;
    all.push_back(
        {reduction, s, code, is_in_lanes, new_words((is_in_lanes ? at_once : maximum_trees) * at_once),
         llvm::FixedVectorType::get(type(s), at_once)});
    if (is_in_lanes)
      for (std::int64_t lane = 0; lane < at_once; ++lane) store(all.back(), no_lanes(s), integer(lane));
  }
  auto const trees_of = [&](llvm::Value* elements) { // one for each set bit of the number of elements
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, elements);
  };

  auto const loop = begin_loop(count, {});
  set(f_.argument(iteration, 0), loop.index);
  compile_in_points(iteration, body, index, mask);
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k) {
    reduced const& r = all[k];
    llvm::Value* const x = in_vector(f_.operand(f_.yield_of(iteration), k), body);
    if (r.is_in_lanes) {
      llvm::Value* const lane = b_.CreateAnd(loop.index, integer(at_once - 1));
      store(r, b_.CreateFAdd(load(r, lane), x), lane);
      continue;
    }
    llvm::Value* const trees = trees_of(loop.index);
    llvm::Value* const merges =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateAdd(loop.index, integer(1)), b_.getTrue());
    auto const merging = begin_loop(merges, {x});
    llvm::Value* const last = b_.CreateSub(b_.CreateSub(trees, integer(1)), merging.index);
    end_loop(merging, {combined(r, load(r, last), merging.carried[0])});
    store(r, merging.carried[0], b_.CreateSub(trees, merges));
  }
  end_loop(loop, {});

  for (reduced const& r : all) {
    if (r.is_in_lanes) {
      llvm::Value* x[at_once];
      for (std::int64_t lane = 0; lane < at_once; ++lane) x[lane] = load(r, integer(lane));
      for (std::int64_t half = at_once / 2; half > 0; half /= 2)
        for (std::int64_t lane = 0; lane < half; ++lane) x[lane] = b_.CreateFAdd(x[lane], x[lane + half]);
      reduced_[index_of(r.reduction)] = x[0];
      continue;
    }
    // Without elements, the value is unused.
    llvm::Value* const top = b_.CreateSub(trees_of(count), integer(1));
    llvm::Value* const first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, top, integer(0));
    auto const folding = begin_loop(top, {load(r, first)});
    llvm::Value* const left = b_.CreateSub(b_.CreateSub(top, integer(1)), folding.index);
    end_loop(folding, {combined(r, load(r, left), folding.carried[0])});
    reduced_[index_of(r.reduction)] = folding.carried[0];
  }
}

void function_compiler::compile_reduce_in_points(node_id n) {
  llvm::Value* x = std::exchange(reduced_[index_of(n)], nullptr);
  value_id const array = f_.operand(n, 0);
  ir::scalar const s = type_of(array).element;
  ir::op const code = f_[n].attributes.operation;
  if (f_[n].attributes.is_started()) {
    llvm::Value* const initial = in_vector(f_.operand(n, 1), f_[n].parent);
    llvm::Value* const none = b_.CreateICmpEQ(scalar(f_.operand(f_.node_of(array), 0)), integer(0));
    llvm::Value* const all = elementwise(code, s, {initial, x});
    // An empty floating-point sum is -0.0 here, the identity of addition.
    x = code == ir::op::add && s != ir::scalar::i64 ? all : b_.CreateSelect(none, initial, all);
  }
  set(f_.result(n), x);
}

// Elements from `index` on; with a mask, only those of the mask.
parts function_compiler::compile_eight_points(
    region_id body, llvm::Value* index, llvm::Value* mask, llvm::ArrayRef<llvm::Value*> lanes,
    std::vector<output> const& outputs, std::vector<summed> const& sums) {
  set(f_.argument(body, 0), b_.CreateAdd(splat(index), first_integers()));
  compile_in_points(body, body, index, mask);
  for (output const& o : outputs) {
    ir::scalar const t = type_of(o.yielded).element;
    llvm::Value* const to = element_address(t, o.made.elements(), index);
    llvm::Value* const x = in_vector(o.yielded, body);
    llvm::Align const align(execute::size_of(t));
    if (mask != nullptr)
      b_.CreateMaskedStore(x, to, align, mask);
    else
      b_.CreateAlignedStore(x, to, align);
  }
  parts next;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    llvm::Value* x = in_vector(sums[k].yielded, body);
    if (mask != nullptr) x = b_.CreateSelect(mask, x, no_lanes(type_of(sums[k].result).element));
    next.push_back(b_.CreateFAdd(lanes[k], x));
  }
  return next;
}

// Vectorises all elements whose trip counts fit, and leaves the insertion point at the code for the others; nothing if the
// body cannot be vectorised.
std::optional<function_compiler::points> function_compiler::begin_points(
    node_id n, std::vector<output> const& outputs, std::vector<summed> const& sums) {
  region_id const body = f_.region_at(n, 0);
  bool const has_loops =
      std::ranges::any_of(f_.nodes_of(body), [&](node_id m) { return ir::is_counted(f_[m].code); });
  if (shared_.how.optimisation < 2 || !shared_.is_repeatable || handler_ || !has_loops) return {};
  for (summed const& s : sums)
    if (!is_floating(type_of(s.yielded))) return {};
  for (output const& o : outputs)
    if (!is_number(type_of(o.yielded))) return {};
  llvm::Value* const count = scalar(f_.operand(n, 0));
  look_ahead(body, count);
  nested_loops found;
  if (!fits_points(body, body, found)) return {};

  llvm::Value* good = b_.getTrue();
  for (value_id const v : found.counts) {
    good = b_.CreateAnd(good, b_.CreateICmpSGE(scalar(v), integer(0)));
    std::int64_t const most = found.reads_apart ? maximum_strided_terms : maximum_terms;
    if (found.has_sums_alone) good = b_.CreateAnd(good, b_.CreateICmpSLE(scalar(v), integer(most)));
  }
  for (value_id const v : found.at_least_one)
    good = b_.CreateAnd(good, b_.CreateICmpSGE(scalar(v), integer(1)));
  block const eights = new_block("points"), elements = new_block("elements");
  points made{nullptr, new_block("behind_points"), {}};
  b_.CreateCondBr(good, eights, elements);
  at(eights);
  auto const mask_from = [&](llvm::Value* index) {
    return b_.CreateICmpSLT(b_.CreateAdd(splat(index), first_integers()), splat(count));
  };
  // With masked loads, the remainder is vectorised too; else the elements after the last eight run one by one.
  bool const masks = shared_.vectors.has_avx;
  parts lanes;
  for (summed const& s : sums) lanes.push_back(no_lanes(type_of(s.result).element));
  llvm::Value* const room = masks ? b_.CreateAdd(count, integer(at_once - 1)) : count;
  auto const blocks = begin_loop(b_.CreateAShr(room, integer(3)), lanes);
  llvm::Value* const index = b_.CreateShl(blocks.index, integer(3));
  lanes.assign(blocks.carried.begin(), blocks.carried.end());
  end_loop(
      blocks, compile_eight_points(body, index, masks ? mask_from(index) : nullptr, lanes, outputs, sums));
  if (!masks) {
    llvm::Value* const done = b_.CreateAnd(count, integer(-at_once));
    block const tail = new_block("tail"), joins = new_block("points_done"), before = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpSLT(done, count), tail, joins);
    at(tail);
    parts const more = compile_eight_points(body, done, mask_from(done), lanes, outputs, sums);
    block const end = b_.GetInsertBlock();
    go(joins);
    at(joins);
    lanes = joined(lanes, before, more, end);
  }
  for (std::size_t k = 0; k < sums.size(); ++k)
    made.sums.push_back(fold_lanes(type_of(sums[k].result).element, lanes[k]));
  made.end = b_.GetInsertBlock();
  go(made.next);
  at(elements);
  return made;
}
void function_compiler::end_points(points const& p, std::vector<summed> const& sums) {
  block const end = b_.GetInsertBlock();
  go(p.next);
  at(p.next);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    llvm::Value*& sum = reduced_[index_of(sums[k].reduction)];
    sum = joined({p.sums[k]}, p.end, {sum}, end)[0];
  }
}

} // namespace overdub::jit
