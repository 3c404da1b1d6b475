// Vectorised sums of maps with straight-line bodies: eight elements at a time, each value a vector of eight. Other results
// of the map are stored as vectors, too.
#include "function.hpp"

#include <overdub/implementation/execute/compute.hpp>

namespace overdub::jit {

// Whether a vector operation takes no longer than the scalar ones: other function calls do not profit; masked lanes must
// not divide integers.
bool function_compiler::is_light(ir::op code, ir::type t) const {
  if (shared_.elementary.has_vectors(code, t.element)) return true;
  if ((ir::row_of(code).cost >= 9 && code != ir::op::sqrt) || t.is_function()) return false;
  switch (code) {
  case ir::op::fdim:
  case ir::op::nextafter:
  case ir::op::ldexp:
  case ir::op::logb:
  case ir::op::lerp:
    return false;
  case ir::op::div:
  case ir::op::rem:
    return t != ir::i64;
  default:
    return true;
  }
}

bool function_compiler::is_vectorisable(region_id body, hoisted_checks const& checks) {
  if (!checks.complete) return false;
  std::uint32_t accesses = 0;
  for (node_id const n : f_.nodes_of(body)) {
    ir::op const code = f_[n].code;
    if (code == ir::op::yield || code == ir::op::length || code == ir::op::convert) continue;
    if (code == ir::op::at) {
      if (type_of(f_.result(n)).rank > 0 || type_of(f_.result(n)).element == ir::scalar::boolean)
        return false;
      ++accesses;
      if (!is_read_in_line(n, body)) return false;
      continue;
    }
    if (!ir::is_elementwise(code) || !is_light(code, type_of(f_.result(n)))) return false;
  }
  return accesses > 0;
}

// Whether elements are read contiguously, or the same element in all iterations.
bool function_compiler::is_read_in_line(node_id n, region_id body) const {
  std::uint32_t const indices = f_[n].operand_count - 1;
  for (std::uint32_t k = 0; k < indices; ++k) {
    auto const coefficient = coefficient_in(f_.operand(n, 1 + k), body);
    if (!coefficient || (*coefficient != 0 && k + 1 < indices)) return false;
  }
  return true;
}

// A value of the body, as a vector.
llvm::Value* function_compiler::in_vector(value_id v, region_id) const {
  llvm::Value* const x = scalar(v);
  return x->getType()->isVectorTy() ? x : splat(x);
}

llvm::Constant* function_compiler::first_integers() const {
  llvm::SmallVector<llvm::Constant*, 8> all;
  for (std::int64_t k = 0; k < 8; ++k) all.push_back(integer(k));
  return llvm::ConstantVector::get(all);
}

// The elements that eight iterations read, from the one at `index` on: contiguous, reversed, or gathered.
llvm::Value*
function_compiler::load_vector(node_id n, region_id body, llvm::Value* index, llvm::Value* mask) {
  value_id const array = f_.operand(n, 0);
  ir::scalar const s = type_of(array).element;
  value const a = get(array);
  std::uint32_t const indices = f_[n].operand_count - 1;
  llvm::Value* at = nullptr;
  if (!is_read_in_line(n, body)) {
    for (std::uint32_t k = 0; k < indices; ++k) {
      llvm::Value* const i = in_vector(f_.operand(n, 1 + k), body);
      at = at == nullptr ? i : b_.CreateAdd(b_.CreateMul(at, splat(a.extent(k))), i);
    }
    auto* const vector = llvm::FixedVectorType::get(type(s), 8);
    llvm::Value* const all = llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), 8));
    return b_.CreateMaskedGather(
        vector, element_address(s, a.elements(), at), llvm::Align(execute::size_of(s)),
        mask == nullptr ? all : mask, llvm::Constant::getNullValue(vector));
  }
  int coefficient = 0;
  for (std::uint32_t k = 0; k < indices; ++k) {
    affine const i = *affine_in(f_.operand(n, 1 + k), body);
    llvm::Value* const whole = i.coefficient == 0  ? i.base
                               : i.coefficient > 0 ? b_.CreateAdd(i.base, index)
                                                   : b_.CreateSub(i.base, index);
    if (i.coefficient != 0) coefficient = i.coefficient;
    at = at == nullptr ? whole : b_.CreateAdd(b_.CreateMul(at, a.extent(k)), whole);
  }
  bool const is_reversed = coefficient < 0;
  if (is_reversed) at = b_.CreateSub(at, integer(7));
  llvm::Value* const from = element_address(s, a.elements(), at);
  if (coefficient == 0) return splat(load_scalar(s, from));
  if (is_reversed && mask != nullptr) mask = b_.CreateVectorReverse(mask);
  auto* const vector = llvm::FixedVectorType::get(type(s), 8);
  llvm::Align const align(execute::size_of(s));
  llvm::Instruction* const x =
      mask == nullptr ? static_cast<llvm::Instruction*>(b_.CreateAlignedLoad(vector, from, align))
                      : b_.CreateMaskedLoad(vector, from, align, mask, llvm::Constant::getNullValue(vector));
  set_alias_scope(x, ir::nothing);
  return is_reversed ? b_.CreateVectorReverse(x) : x;
}

void function_compiler::compile_in_vectors(region_id body, llvm::Value* index, llvm::Value* mask) {
  set(f_.argument(body, 0), b_.CreateAdd(splat(index), first_integers()));
  for (node_id const n : f_.nodes_of(body)) {
    ir::op const code = f_[n].code;
    if (code == ir::op::yield) break;
    if (code == ir::op::length)
      compile_length(n);
    else if (code == ir::op::at)
      set(f_.result(n), load_vector(n, body, index, mask));
    else
      compile_in_vector(n, body);
  }
}
// An element-wise operation, or a conversion.
void function_compiler::compile_in_vector(node_id n, region_id body) {
  ir::op const code = f_[n].code;
  parts x;
  for (value_id const v : f_.operands_of(n)) x.push_back(in_vector(v, body));
  if (code == ir::op::convert)
    set(f_.result(n), converted(type_of(f_.operand(n, 0)).element, type_of(f_.result(n)).element, x[0]));
  else
    set(f_.result(n), elementwise(code, type_of(f_.operand(n, code == ir::op::select ? 1 : 0)).element, x));
}

// Returns whether the map was vectorised.
bool function_compiler::compile_vector_sums(
    node_id n, std::vector<summed> const& sums, std::vector<output> const& outputs) {
  region_id const body = f_.region_at(n, 0);
  node_id const last = f_.yield_of(body);
  if (shared_.how.optimisation < 2) return false;
  for (summed const& s : sums)
    if (type_of(s.result).element == ir::scalar::i64) return false;
  for (output const& o : outputs)
    if (type_of(o.result).rank != 1 || type_of(o.result).element == ir::scalar::boolean) return false;
  llvm::Value* const count = scalar(f_.operand(n, 0));
  auto const checks = hoist_checks(body, count);
  if (!checks || !is_vectorisable(body, *checks)) return false;

  // Operands of indices are computed before the loop, and rematerialised where they are needed.
  parts start;
  for (summed const& s : sums) start.push_back(no_lanes(type_of(s.result).element));
  auto const add_vectors = [&](llvm::ArrayRef<llvm::Value*> lanes, llvm::Value* mask) {
    parts next;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      llvm::Value* x = in_vector(sums[k].yielded, body);
      if (mask != nullptr) x = b_.CreateSelect(mask, x, no_lanes(type_of(sums[k].result).element));
      next.push_back(b_.CreateFAdd(lanes[k], x));
    }
    return next;
  };
  auto const store_vectors = [&](llvm::Value* index, llvm::Value* mask) {
    for (output const& o : outputs) {
      ir::scalar const t = type_of(o.result).element;
      llvm::Value* const to = element_address(t, o.made.elements(), index);
      llvm::Align const align(execute::size_of(t));
      if (mask == nullptr)
        b_.CreateAlignedStore(in_vector(o.yielded, body), to, align);
      else
        b_.CreateMaskedStore(in_vector(o.yielded, body), to, align, mask);
    }
  };
  auto const ended = [&](counted_loop const& l) { return parts(l.carried.begin(), l.carried.end()); };

  block const before = b_.GetInsertBlock(), vectors = new_block("vectors"), one_by_one = new_block("rest"),
              next = new_block("behind");
  (void)before;
  if (checks->holds == nullptr)
    go(vectors);
  else
    b_.CreateCondBr(checks->holds, vectors, one_by_one);
  at(vectors);
  set_unchecked(*checks, true);
  auto const blocks = begin_loop(b_.CreateAShr(count, integer(3)), start);
  llvm::Value* const index = b_.CreateShl(blocks.index, integer(3));
  compile_in_vectors(body, index, nullptr);
  store_vectors(index, nullptr);
  end_loop(blocks, add_vectors(ended(blocks), nullptr));
  llvm::Value* const done = b_.CreateAnd(count, integer(-8));
  parts lanes = ended(blocks);
  bool const masks = shared_.vectors.has_avx;
  if (masks) {
    block const tail = new_block("tail"), from = b_.GetInsertBlock(), joins = new_block("vectors_done");
    b_.CreateCondBr(b_.CreateICmpSLT(done, count), tail, joins);
    at(tail);
    llvm::Value* const mask = b_.CreateICmpULT(first_integers(), splat(b_.CreateSub(count, done)));
    compile_in_vectors(body, done, mask);
    store_vectors(done, mask);
    parts const more = add_vectors(lanes, mask);
    block const end = b_.GetInsertBlock();
    go(joins);
    at(joins);
    lanes = joined(lanes, from, more, end);
  }
  block const vectors_end = b_.GetInsertBlock();
  parts all = lanes;
  if (masks && checks->holds == nullptr) {
    one_by_one->eraseFromParent();
    go(next);
    at(next);
  } else {
    // The remainder, or all elements if some index is out of range: one by one, with partial sums in memory.
    b_.CreateBr(masks ? next : one_by_one);
    at(one_by_one);
    set_unchecked(*checks, false);
    parts entering = start;
    llvm::Value* first = integer(0);
    if (!masks) {
      if (checks->holds != nullptr) {
        entering = joined(start, before, lanes, vectors_end);
        auto* const where = b_.CreatePHI(b_.getInt64Ty(), 2);
        where->addIncoming(integer(0), before);
        where->addIncoming(done, vectors_end);
        first = where;
      } else {
        entering = lanes;
        first = done;
      }
    }
    std::vector<llvm::Value*> memory;
    for (llvm::Value* const x : entering) {
      memory.push_back(new_words(8));
      b_.CreateAlignedStore(x, memory.back(), vector_alignment(x->getType()));
    }
    auto const loop = begin_loop(b_.CreateSub(count, first), {});
    llvm::Value* const i = b_.CreateAdd(first, loop.index);
    set(f_.argument(body, 0), i);
    compile_region(body);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      ir::scalar const s = type_of(sums[k].result).element;
      llvm::Value* const lane = element_address(s, memory[k], b_.CreateAnd(i, integer(7)));
      store_scalar(s, b_.CreateFAdd(load_scalar(s, lane), scalar(sums[k].yielded)), lane);
    }
    for (output const& o : outputs) store_output(o, i);
    finish(last);
    end_loop(loop, {});
    parts rest;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      llvm::Type* const t = entering[k]->getType();
      rest.push_back(b_.CreateAlignedLoad(t, memory[k], vector_alignment(t)));
    }
    block const end = b_.GetInsertBlock();
    go(next);
    at(next);
    all = masks ? joined(lanes, vectors_end, rest, end) : rest;
  }
  for (std::size_t k = 0; k < sums.size(); ++k)
    reduced_[index_of(sums[k].reduction)] = fold_lanes(type_of(sums[k].result).element, all[k]);
  return true;
}

} // namespace overdub::jit
