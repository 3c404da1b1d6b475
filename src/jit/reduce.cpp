#include "reduce.hpp"

#include "arrays.hpp"
#include "counted_loop.hpp"
#include "lanes.hpp"
#include "memory_access.hpp"
#include "operations.hpp"
#include "reference_counts.hpp"
#include "scalars.hpp"

#include <overdub/implementation/execute/reduce_handlers.hpp>

namespace overdub::jit {
namespace {

// A reduction by a region, which is compiled once. Values are in memory: `parts`, complete trees of descending sizes after
// the initial value; or eight partial sums, and the initial value after them.
void emit_reduce_by_region(function_state& fn, node_id n) {
  region_id const region = fn.f.region_at(n, 0);
  bool const started = fn.f[n].attributes.is_started(), in_lanes = fn.f[n].attributes.is_in_lanes();
  std::uint32_t const count = fn.f[n].result_count;
  value_ids arrays;
  std::uint32_t words = 0;
  std::vector<std::uint32_t> first; // the words of each component
  for (std::uint32_t k = 0; k < count; ++k) {
    arrays.push_back(fn.f.operand(n, k));
    first.push_back(words);
    words += words_of(fn.type_of(fn.f.result(n, k)));
  }
  std::vector<value> initial;
  if (started) initial = initial_values(fn, n, count, count);
  llvm::Value* const size = common_length(fn, arrays, ir::op::reduce);
  if (!started) fn.e.require(fn.b.CreateICmpNE(size, fn.e.integer(0)), runtime_function::throw_empty, {});

  llvm::Value* const memory = fn.e.new_words(words * 66);
  auto const place = [&](llvm::Value* part, std::uint32_t k) {
    llvm::Value* const word =
        fn.b.CreateAdd(fn.b.CreateMul(part, fn.e.integer(words)), fn.e.integer(first[k]));
    return fn.b.CreateGEP(fn.b.getInt64Ty(), memory, word);
  };
  auto const store = [&](llvm::Value* part, std::vector<value> const& all) {
    for (std::uint32_t k = 0; k < count; ++k)
      store_words(fn.e, fn.type_of(fn.f.result(n, k)), all[k], place(part, k));
  };
  auto const load = [&](llvm::Value* part) {
    std::vector<value> all;
    for (std::uint32_t k = 0; k < count; ++k)
      all.push_back(load_words(fn.e, fn.type_of(fn.f.result(n, k)), place(part, k)));
    return all;
  };
  auto const element = [&](llvm::Value* i) {
    std::vector<value> all;
    for (value_id const v : arrays) {
      ir::type const t = fn.type_of(v);
      value const a = fn.get(v);
      llvm::Value* at = i;
      for (std::uint32_t k = 1; k < t.rank; ++k) at = fn.b.CreateMul(at, a.extent(k));
      llvm::Value* const where = element_address(fn.e, t.element, a.elements(), at);
      if (t.rank == 1) {
        all.push_back({{load_scalar(fn.e, t.element, where)}});
        continue;
      }
      value row{{where, a.owner()}};
      for (std::uint32_t k = 1; k < t.rank; ++k) row.all.push_back(a.extent(k));
      mark_shared(fn, v);
      retain_owner(fn, a.owner());
      all.push_back(std::move(row));
    }
    return all;
  };
  auto const combine = [&](std::vector<value> const& left, std::vector<value> const& right) {
    for (std::uint32_t k = 0; k < count; ++k) {
      fn.set(fn.f.argument(region, k), left[k]);
      fn.set(fn.f.argument(region, count + k), right[k]);
    }
    begin_live_ranges(fn, fn.f.arguments_of(region), region);
    emit_region(fn, region);
    std::vector<value> all = transferred_yields(fn, region, 0, count);
    end_live_ranges(fn, fn.f.yield_of(region));
    return all;
  };
  auto const phi = [&](llvm::Type* t) { return fn.b.CreatePHI(t, 2); };
  llvm::Type* const word = fn.b.getInt64Ty();
  llvm::Value* result_part = fn.e.integer(0);

  if (in_lanes) {
    // Steps: one for each element, then seven that fold the partial sums, then the initial value. Each combines part `left`
    // with part 9, or moves the latter to the former.
    if (started) store(fn.e.integer(8), initial);
    llvm::Value* const total = fn.b.CreateAdd(size, fn.e.integer(started ? 8 : 7));
    static_assert(execute::lane_folds.size() == 7);
    std::vector<std::uint8_t> tos, froms;
    for (auto const [to, from] : execute::lane_folds) {
      tos.push_back(to);
      froms.push_back(from);
    }
    tos.push_back(8);
    froms.push_back(0);
    auto const table = [&](std::vector<std::uint8_t> const& all) {
      auto* const data = llvm::ConstantDataArray::get(fn.e.context, all);
      return new llvm::GlobalVariable(
          fn.e.module(), data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
    };
    auto* const to_table = table(tos);
    auto* const from_table = table(froms);
    block const none = fn.e.new_block("empty"), run = fn.e.new_block("steps"),
                after = fn.e.new_block("combined");
    fn.b.CreateCondBr(fn.b.CreateICmpEQ(size, fn.e.integer(0)), none, run);
    fn.e.at(run);
    auto const steps = begin_loop(fn.e, total, {});
    block const reads = fn.e.new_block("element"), folds = fn.e.new_block("fold"),
                combines = fn.e.new_block("combine"), moves = fn.e.new_block("move");
    fn.b.CreateCondBr(fn.b.CreateICmpSLT(steps.index, size), reads, folds);
    fn.e.at(reads);
    store(fn.e.integer(9), element(steps.index));
    llvm::Value* const lane = fn.b.CreateAnd(steps.index, fn.e.integer(7));
    llvm::Value* const is_first = fn.b.CreateICmpSLT(steps.index, fn.e.integer(8));
    block const read = fn.b.GetInsertBlock();
    fn.b.CreateCondBr(is_first, moves, combines);
    fn.e.at(folds);
    llvm::Value* const k = fn.b.CreateSub(steps.index, size);
    auto const look_up = [&](llvm::GlobalVariable* t) {
      return fn.b.CreateZExt(
          fn.b.CreateAlignedLoad(fn.b.getInt8Ty(), fn.b.CreateGEP(fn.b.getInt8Ty(), t, k), llvm::Align(1)),
          word);
    };
    llvm::Value *const to = look_up(to_table), *const from = look_up(from_table);
    block const present = fn.e.new_block("present");
    fn.b.CreateCondBr(fn.b.CreateICmpSLT(from, size), present, steps.latch);
    fn.e.at(present);
    store(fn.e.integer(9), load(from));
    block const folded = fn.b.GetInsertBlock();
    fn.e.go(combines);
    fn.e.at(combines);
    auto* const left = phi(word);
    left->addIncoming(lane, read);
    left->addIncoming(to, folded);
    std::vector<value> const made = combine(load(left), load(fn.e.integer(9)));
    llvm::Value* const is_last = fn.b.CreateICmpEQ(left, fn.e.integer(8));
    store(fn.b.CreateSelect(is_last, fn.e.integer(0), left), made);
    fn.e.go(steps.latch);
    fn.e.at(moves);
    store(lane, load(fn.e.integer(9)));
    end_loop(fn.e, steps, {});
    fn.e.go(after);
    fn.e.at(none);
    fn.e.go(after);
    block const empty = fn.b.GetInsertBlock();
    fn.e.at(after);
    auto* const part = phi(word);
    part->addIncoming(fn.e.integer(0), steps.exit);
    part->addIncoming(fn.e.integer(started ? 8 : 0), empty);
    result_part = part;
  } else {
    // Elements are read one by one; after each, complete trees of one size are combined; at the end, all remaining trees.
    if (started) store(fn.e.integer(0), initial);
    block const from = fn.b.GetInsertBlock(), next = fn.e.new_block("element"),
                reads = fn.e.new_block("read"), folds = fn.e.new_block("fold"),
                merges = fn.e.new_block("merge"), combines = fn.e.new_block("combine"),
                ends = fn.e.new_block("combined"), pushes = fn.e.new_block("push"),
                done = fn.e.new_block("done");
    llvm::Value* const cell = fn.e.integer(65); // the current value
    fn.e.go(next);
    fn.e.at(next);
    auto *const i = phi(word), *const depth = phi(word);
    i->addIncoming(fn.e.integer(0), from);
    depth->addIncoming(fn.e.integer(started ? 1 : 0), from);
    llvm::Value* const more = fn.b.CreateICmpSLT(i, size);
    fn.b.CreateCondBr(more, reads, folds);
    fn.e.at(reads);
    store(cell, element(i));
    llvm::Value* const i_next = fn.b.CreateAdd(i, fn.e.integer(1));
    llvm::Value* const ready = fn.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, i_next, fn.b.getTrue());
    block const read = fn.b.GetInsertBlock();
    fn.e.go(merges);
    fn.e.at(folds);
    llvm::Value* const left_over = fn.b.CreateSub(depth, fn.e.integer(1));
    store(cell, load(left_over));
    block const folded = fn.b.GetInsertBlock();
    fn.e.go(merges);
    fn.e.at(merges);
    auto *const pending = fn.b.CreatePHI(word, 3), *const d = fn.b.CreatePHI(word, 3);
    pending->addIncoming(ready, read);
    pending->addIncoming(left_over, folded);
    d->addIncoming(depth, read);
    d->addIncoming(left_over, folded);
    fn.b.CreateCondBr(fn.b.CreateICmpSGT(pending, fn.e.integer(0)), combines, ends);
    fn.e.at(combines);
    llvm::Value* const d_left = fn.b.CreateSub(d, fn.e.integer(1));
    store(cell, combine(load(d_left), load(cell)));
    pending->addIncoming(fn.b.CreateSub(pending, fn.e.integer(1)), fn.b.GetInsertBlock());
    d->addIncoming(d_left, fn.b.GetInsertBlock());
    fn.e.go(merges);
    fn.e.at(ends);
    fn.b.CreateCondBr(more, pushes, done);
    fn.e.at(pushes);
    store(d, load(cell));
    i->addIncoming(fn.b.CreateAdd(i, fn.e.integer(1)), pushes);
    depth->addIncoming(fn.b.CreateAdd(d, fn.e.integer(1)), pushes);
    fn.e.go(next);
    fn.e.at(done);
    result_part = cell;
  }
  std::vector<value> const results = load(result_part);
  for (std::uint32_t k = 0; k < count; ++k) fn.set(fn.f.result(n, k), results[k]);
}

} // namespace

void emit_reduce(function_state& fn, node_id n) {
  ir::op const code = fn.f[n].attributes.operation;
  if (code == ir::op::none) return emit_reduce_by_region(fn, n);
  value const array = fn.get(fn.f.operand(n, 0));
  value_id const result = fn.f.result(n);
  ir::scalar const s = fn.type_of(result).element;
  llvm::Value *const size = array.extent(0), *const elements = array.elements();
  auto const whole = [&]() -> llvm::Value* {
    if (fn.reduced[index_of(n)] != nullptr) return fn.reduced[index_of(n)];
    if (code == ir::op::add && s == ir::scalar::i64) {
      auto const loop = begin_loop(fn.e, size, {fn.e.integer(0)});
      llvm::Value* const x = load_scalar(fn.e, s, element_address(fn.e, s, elements, loop.index));
      end_loop(fn.e, loop, {fn.b.CreateAdd(loop.carried[0], x)});
      return loop.carried[0];
    }
    if (code == ir::op::add) return sum_of_array(fn.e, s, elements, size);
    return fn.e.call(
        s == ir::scalar::boolean ? runtime_function::reduce_bool
        : s == ir::scalar::i64   ? runtime_function::reduce_i64
        : s == ir::scalar::f32   ? runtime_function::reduce_f32
                                 : runtime_function::reduce_f64,
        {fn.b.getInt32(ir::number_in(fn.p.math, code)), elements, size});
  };
  if (!fn.f[n].attributes.is_started()) {
    fn.e.require(fn.b.CreateICmpNE(size, fn.e.integer(0)), runtime_function::throw_empty, {});
    return fn.set(result, whole());
  }
  llvm::Value* const initial = fn.scalar(fn.f.operand(n, 1));
  // An empty floating-point sum is -0.0 here, the identity of addition.
  if (code == ir::op::add && s != ir::scalar::i64)
    return fn.set(result, elementwise(fn, code, s, {initial, whole()}));
  block const some = fn.e.new_block("some"), next = fn.e.new_block("behind"), before = fn.b.GetInsertBlock();
  fn.b.CreateCondBr(fn.b.CreateICmpEQ(size, fn.e.integer(0)), next, some);
  fn.e.at(some);
  llvm::Value* const all = elementwise(fn, code, s, {initial, whole()});
  block const end = fn.b.GetInsertBlock();
  fn.e.go(next);
  fn.e.at(next);
  auto* const either = fn.b.CreatePHI(initial->getType(), 2);
  either->addIncoming(initial, before);
  either->addIncoming(all, end);
  fn.set(result, either);
}

} // namespace overdub::jit
