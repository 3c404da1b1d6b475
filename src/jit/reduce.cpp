// Reductions. The order of the operations is part of their meaning (control/reduce.hpp): sums of floating-point numbers use
// eight interleaved partial sums, other reductions a balanced tree.
#include "function.hpp"

#include <overdub/implementation/execute/reduce_handlers.hpp>

namespace overdub::jit {

// Empty partial sums: -0.0 is the identity of addition.
llvm::Value* function_compiler::no_lanes(ir::scalar s) {
  return llvm::ConstantVector::getSplat(
      llvm::ElementCount::getFixed(8), llvm::ConstantFP::getNegativeZero(type(s)));
}
llvm::Value* function_compiler::fold_lanes(ir::scalar, llvm::Value* lanes) {
  // (0 + 4), (1 + 5), (2 + 6), (3 + 7); then (0 + 2), (1 + 3); then the two.
  auto const half = [&](llvm::Value* x, int n) {
    llvm::SmallVector<int, 4> low, high;
    for (int k = 0; k < n; ++k) {
      low.push_back(k);
      high.push_back(n + k);
    }
    return b_.CreateFAdd(b_.CreateShuffleVector(x, low), b_.CreateShuffleVector(x, high));
  };
  llvm::Value* const two = half(half(lanes, 4), 2);
  return b_.CreateFAdd(b_.CreateExtractElement(two, std::uint64_t{0}), b_.CreateExtractElement(two, 1));
}

// The same for partial sums in memory. They are folded by scalar loads, since a vector load after scalar stores stalls.
llvm::Value* function_compiler::fold_stored_lanes(ir::scalar s, llvm::Value* lanes) {
  llvm::Value* x[8];
  for (std::int64_t k = 0; k < 8; ++k) x[k] = load_scalar(s, element_address(s, lanes, integer(k)));
  for (std::size_t n = 4; n > 0; n /= 2)
    for (std::size_t k = 0; k < n; ++k) x[k] = b_.CreateFAdd(x[k], x[k + n]);
  return x[0];
}

// The sum of an array of at least one floating-point number.
llvm::Value* function_compiler::sum_of_array(ir::scalar s, llvm::Value* elements, llvm::Value* n) {
  auto* const vector = llvm::FixedVectorType::get(type(s), 8);
  auto const blocks = begin_loop(b_.CreateAShr(n, 3), {no_lanes(s)});
  llvm::Value* const from = element_address(s, elements, b_.CreateShl(blocks.index, 3));
  auto* const eight = b_.CreateAlignedLoad(vector, from, llvm::Align(execute::size_of(s)));
  set_alias_scope(eight, ir::nothing);
  end_loop(blocks, {b_.CreateFAdd(blocks.carried[0], eight)});
  llvm::Value* const done = b_.CreateAnd(n, integer(-8));
  auto const rest = begin_loop(b_.CreateSub(n, done), {blocks.carried[0]});
  llvm::Value* const x = load_scalar(s, element_address(s, elements, b_.CreateAdd(done, rest.index)));
  llvm::Value* const lane = b_.CreateExtractElement(rest.carried[0], rest.index);
  end_loop(rest, {b_.CreateInsertElement(rest.carried[0], b_.CreateFAdd(lane, x), rest.index)});
  return fold_lanes(s, rest.carried[0]);
}

void function_compiler::compile_reduce(node_id n) {
  ir::op const code = f_[n].attributes.operation;
  if (code == ir::op::none) return compile_reduce_by_region(n);
  value const array = get(f_.operand(n, 0));
  value_id const result = f_.result(n);
  ir::scalar const s = type_of(result).element;
  llvm::Value *const size = array.extent(0), *const elements = array.elements();
  auto const whole = [&]() -> llvm::Value* {
    if (reduced_[index_of(n)] != nullptr) return reduced_[index_of(n)];
    if (code == ir::op::add && s == ir::scalar::i64) {
      auto const loop = begin_loop(size, {integer(0)});
      llvm::Value* const x = load_scalar(s, element_address(s, elements, loop.index));
      end_loop(loop, {b_.CreateAdd(loop.carried[0], x)});
      return loop.carried[0];
    }
    if (code == ir::op::add) return sum_of_array(s, elements, size);
    return call(
        s == ir::scalar::boolean ? runtime_function::reduce_bool
        : s == ir::scalar::i64   ? runtime_function::reduce_i64
        : s == ir::scalar::f32   ? runtime_function::reduce_f32
                                 : runtime_function::reduce_f64,
        {b_.getInt32(ir::number_in(p_.math, code)), elements, size});
  };
  if (!f_[n].attributes.is_started()) {
    require(b_.CreateICmpNE(size, integer(0)), runtime_function::throw_empty, {});
    return set(result, whole());
  }
  llvm::Value* const initial = scalar(f_.operand(n, 1));
  // An empty floating-point sum is -0.0 here, the identity of addition.
  if (code == ir::op::add && s != ir::scalar::i64)
    return set(result, elementwise(code, s, {initial, whole()}));
  block const some = new_block("some"), next = new_block("behind"), before = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpEQ(size, integer(0)), next, some);
  at(some);
  llvm::Value* const all = elementwise(code, s, {initial, whole()});
  block const end = b_.GetInsertBlock();
  go(next);
  at(next);
  auto* const either = b_.CreatePHI(initial->getType(), 2);
  either->addIncoming(initial, before);
  either->addIncoming(all, end);
  set(result, either);
}

// A reduction by a region, which is compiled once. Values are in memory: `parts`, complete trees of descending sizes after
// the initial value; or eight partial sums, and the initial value after them.
void function_compiler::compile_reduce_by_region(node_id n) {
  region_id const region = f_.region_at(n, 0);
  bool const started = f_[n].attributes.is_started(), in_lanes = f_[n].attributes.is_in_lanes();
  std::uint32_t const count = f_[n].result_count;
  values arrays;
  std::uint32_t words = 0;
  std::vector<std::uint32_t> first; // the words of each component
  for (std::uint32_t k = 0; k < count; ++k) {
    arrays.push_back(f_.operand(n, k));
    first.push_back(words);
    words += words_of(type_of(f_.result(n, k)));
  }
  std::vector<value> initial;
  if (started) initial = initial_values(n, count, count);
  llvm::Value* const size = common_length(arrays, ir::op::reduce);
  if (!started) require(b_.CreateICmpNE(size, integer(0)), runtime_function::throw_empty, {});

  llvm::Value* const memory = new_words(words * 66);
  auto const place = [&](llvm::Value* part, std::uint32_t k) {
    llvm::Value* const word = b_.CreateAdd(b_.CreateMul(part, integer(words)), integer(first[k]));
    return b_.CreateGEP(b_.getInt64Ty(), memory, word);
  };
  auto const store = [&](llvm::Value* part, std::vector<value> const& all) {
    for (std::uint32_t k = 0; k < count; ++k) store_words(type_of(f_.result(n, k)), all[k], place(part, k));
  };
  auto const load = [&](llvm::Value* part) {
    std::vector<value> all;
    for (std::uint32_t k = 0; k < count; ++k)
      all.push_back(load_words(type_of(f_.result(n, k)), place(part, k)));
    return all;
  };
  auto const element = [&](llvm::Value* i) {
    std::vector<value> all;
    for (value_id const v : arrays) {
      ir::type const t = type_of(v);
      value const a = get(v);
      llvm::Value* at = i;
      for (std::uint32_t k = 1; k < t.rank; ++k) at = b_.CreateMul(at, a.extent(k));
      llvm::Value* const where = element_address(t.element, a.elements(), at);
      if (t.rank == 1) {
        all.push_back({{load_scalar(t.element, where)}});
        continue;
      }
      value row{{where, a.owner()}};
      for (std::uint32_t k = 1; k < t.rank; ++k) row.all.push_back(a.extent(k));
      mark_shared(v);
      retain_owner(a.owner());
      all.push_back(std::move(row));
    }
    return all;
  };
  auto const combine = [&](std::vector<value> const& left, std::vector<value> const& right) {
    for (std::uint32_t k = 0; k < count; ++k) {
      set(f_.argument(region, k), left[k]);
      set(f_.argument(region, count + k), right[k]);
    }
    live_in(f_.arguments_of(region), region);
    compile_region(region);
    std::vector<value> all = transferred_yields(region, 0, count);
    finish(f_.yield_of(region));
    return all;
  };
  auto const phi = [&](llvm::Type* t) { return b_.CreatePHI(t, 2); };
  llvm::Type* const word = b_.getInt64Ty();
  llvm::Value* result_part = integer(0);

  if (in_lanes) {
    // Steps: one for each element, then seven that fold the partial sums, then the initial value. Each combines part `left`
    // with part 9, or moves the latter to the former.
    if (started) store(integer(8), initial);
    llvm::Value* const total = b_.CreateAdd(size, integer(started ? 8 : 7));
    static_assert(execute::lane_folds.size() == 7);
    std::vector<std::uint8_t> tos, froms;
    for (auto const [to, from] : execute::lane_folds) {
      tos.push_back(to);
      froms.push_back(from);
    }
    tos.push_back(8);
    froms.push_back(0);
    auto const table = [&](std::vector<std::uint8_t> const& all) {
      auto* const data = llvm::ConstantDataArray::get(context_, all);
      return new llvm::GlobalVariable(
          *shared_.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
    };
    auto* const to_table = table(tos);
    auto* const from_table = table(froms);
    block const none = new_block("empty"), run = new_block("steps"), after = new_block("combined");
    b_.CreateCondBr(b_.CreateICmpEQ(size, integer(0)), none, run);
    at(run);
    auto const steps = begin_loop(total, {});
    block const reads = new_block("element"), folds = new_block("fold"), combines = new_block("combine"),
                moves = new_block("move");
    b_.CreateCondBr(b_.CreateICmpSLT(steps.index, size), reads, folds);
    at(reads);
    store(integer(9), element(steps.index));
    llvm::Value* const lane = b_.CreateAnd(steps.index, integer(7));
    llvm::Value* const is_first = b_.CreateICmpSLT(steps.index, integer(8));
    block const read = b_.GetInsertBlock();
    b_.CreateCondBr(is_first, moves, combines);
    at(folds);
    llvm::Value* const k = b_.CreateSub(steps.index, size);
    auto const look_up = [&](llvm::GlobalVariable* t) {
      return b_.CreateZExt(
          b_.CreateAlignedLoad(b_.getInt8Ty(), b_.CreateGEP(b_.getInt8Ty(), t, k), llvm::Align(1)), word);
    };
    llvm::Value *const to = look_up(to_table), *const from = look_up(from_table);
    block const present = new_block("present");
    b_.CreateCondBr(b_.CreateICmpSLT(from, size), present, steps.latch);
    at(present);
    store(integer(9), load(from));
    block const folded = b_.GetInsertBlock();
    go(combines);
    at(combines);
    auto* const left = phi(word);
    left->addIncoming(lane, read);
    left->addIncoming(to, folded);
    std::vector<value> const made = combine(load(left), load(integer(9)));
    llvm::Value* const is_last = b_.CreateICmpEQ(left, integer(8));
    store(b_.CreateSelect(is_last, integer(0), left), made);
    go(steps.latch);
    at(moves);
    store(lane, load(integer(9)));
    end_loop(steps, {});
    go(after);
    at(none);
    go(after);
    block const empty = b_.GetInsertBlock();
    at(after);
    auto* const part = phi(word);
    part->addIncoming(integer(0), steps.exit);
    part->addIncoming(integer(started ? 8 : 0), empty);
    result_part = part;
  } else {
    // Elements are read one by one; after each, complete trees of one size are combined; at the end, all remaining trees.
    if (started) store(integer(0), initial);
    block const from = b_.GetInsertBlock(), next = new_block("element"), reads = new_block("read"),
                folds = new_block("fold"), merges = new_block("merge"), combines = new_block("combine"),
                ends = new_block("combined"), pushes = new_block("push"), done = new_block("done");
    llvm::Value* const cell = integer(65); // the current value
    go(next);
    at(next);
    auto *const i = phi(word), *const depth = phi(word);
    i->addIncoming(integer(0), from);
    depth->addIncoming(integer(started ? 1 : 0), from);
    llvm::Value* const more = b_.CreateICmpSLT(i, size);
    b_.CreateCondBr(more, reads, folds);
    at(reads);
    store(cell, element(i));
    llvm::Value* const i_next = b_.CreateAdd(i, integer(1));
    llvm::Value* const ready = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, i_next, b_.getTrue());
    block const read = b_.GetInsertBlock();
    go(merges);
    at(folds);
    llvm::Value* const left_over = b_.CreateSub(depth, integer(1));
    store(cell, load(left_over));
    block const folded = b_.GetInsertBlock();
    go(merges);
    at(merges);
    auto *const pending = b_.CreatePHI(word, 3), *const d = b_.CreatePHI(word, 3);
    pending->addIncoming(ready, read);
    pending->addIncoming(left_over, folded);
    d->addIncoming(depth, read);
    d->addIncoming(left_over, folded);
    b_.CreateCondBr(b_.CreateICmpSGT(pending, integer(0)), combines, ends);
    at(combines);
    llvm::Value* const d_left = b_.CreateSub(d, integer(1));
    store(cell, combine(load(d_left), load(cell)));
    pending->addIncoming(b_.CreateSub(pending, integer(1)), b_.GetInsertBlock());
    d->addIncoming(d_left, b_.GetInsertBlock());
    go(merges);
    at(ends);
    b_.CreateCondBr(more, pushes, done);
    at(pushes);
    store(d, load(cell));
    i->addIncoming(b_.CreateAdd(i, integer(1)), pushes);
    depth->addIncoming(b_.CreateAdd(d, integer(1)), pushes);
    go(next);
    at(done);
    result_part = cell;
  }
  std::vector<value> const results = load(result_part);
  for (std::uint32_t k = 0; k < count; ++k) set(f_.result(n, k), results[k]);
}

} // namespace overdub::jit
