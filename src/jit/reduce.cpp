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

// A reduction by a region, which is emitted once. Values are in memory: `parts`, complete trees of descending sizes after
// the initial value; or eight partial sums, and the initial value after them.
class region_reduction {
public:
  region_reduction(function_state& fn, node_id n)
      : fn_(fn), e_(fn.e), b_(fn.b), n_(n), region_(fn.f.region_at(n, 0)), count_(fn.f[n].result_count),
        is_started_(fn.f[n].attributes.is_started()) {
    for (std::uint32_t k = 0; k < count_; ++k) {
      arrays_.push_back(fn.f.operand(n, k));
      first_.push_back(words_);
      words_ += words_of(type(k));
    }
  }

  void emit() {
    if (is_started_) initial_ = passed_values(fn_, n_, count_, count_);
    size_ = common_length(fn_, arrays_, ir::op::reduce);
    if (!is_started_) e_.require(b_.CreateICmpNE(size_, e_.integer(0)), runtime_function::throw_empty, {});
    memory_ = e_.new_words(words_ * 66);
    llvm::Value* const part = fn_.f[n_].attributes.is_in_lanes() ? emit_lanes() : emit_trees();
    std::vector<value> const results = load(part);
    for (std::uint32_t k = 0; k < count_; ++k) fn_.set(fn_.f.result(n_, k), results[k]);
  }

private:
  ir::type type(std::uint32_t k) const { return fn_.type_of(fn_.f.result(n_, k)); }

  // ---- values in memory

  llvm::Value* place(llvm::Value* part, std::uint32_t k) {
    llvm::Value* const word = b_.CreateAdd(b_.CreateMul(part, e_.integer(words_)), e_.integer(first_[k]));
    return b_.CreateGEP(b_.getInt64Ty(), memory_, word);
  }
  void store(llvm::Value* part, std::vector<value> const& all) {
    for (std::uint32_t k = 0; k < count_; ++k) store_words(e_, type(k), all[k], place(part, k));
  }
  std::vector<value> load(llvm::Value* part) {
    std::vector<value> all;
    for (std::uint32_t k = 0; k < count_; ++k) all.push_back(load_words(e_, type(k), place(part, k)));
    return all;
  }

  // The elements of the arrays at an index.
  std::vector<value> element(llvm::Value* i) {
    std::vector<value> all;
    for (value_id const v : arrays_) {
      ir::type const t = fn_.type_of(v);
      value const a = fn_.get(v);
      llvm::Value* at = i;
      for (std::uint32_t k = 1; k < t.rank; ++k) at = b_.CreateMul(at, a.extent(k));
      llvm::Value* const where = element_address(e_, t.element, a.elements(), at);
      if (t.rank == 1) {
        all.push_back({{load_scalar(e_, t.element, where)}});
        continue;
      }
      value row{{where, a.owner()}};
      for (std::uint32_t k = 1; k < t.rank; ++k) row.all.push_back(a.extent(k));
      retain_owner(fn_, a.owner());
      all.push_back(std::move(row));
    }
    return all;
  }
  // Runs the region.
  std::vector<value> combine(std::vector<value> const& left, std::vector<value> const& right) {
    for (std::uint32_t k = 0; k < count_; ++k) {
      fn_.set(fn_.f.argument(region_, k), left[k]);
      fn_.set(fn_.f.argument(region_, count_ + k), right[k]);
    }
    emit_region(fn_, region_);
    std::vector<value> all = passed_values(fn_, fn_.f.yield_of(region_), 0, count_);
    release_after(fn_, fn_.f.yield_of(region_));
    return all;
  }

  // ---- orders of combination; they return the part with the result

  // Steps: one for each element, then seven that fold the partial sums, then the initial value. Each combines part `left`
  // with part 9, or moves the latter to the former.
  llvm::Value* emit_lanes() {
    llvm::Type* const word = b_.getInt64Ty();
    if (is_started_) store(e_.integer(8), initial_);
    llvm::Value* const total = b_.CreateAdd(size_, e_.integer(is_started_ ? 8 : 7));
    static_assert(execute::lane_folds.size() == 7);
    std::vector<std::uint8_t> tos, froms;
    for (auto const [to, from] : execute::lane_folds) {
      tos.push_back(to);
      froms.push_back(from);
    }
    tos.push_back(8);
    froms.push_back(0);
    auto const table = [&](std::vector<std::uint8_t> const& all) {
      auto* const data = llvm::ConstantDataArray::get(e_.context, all);
      return new llvm::GlobalVariable(
          e_.module(), data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
    };
    auto* const to_table = table(tos);
    auto* const from_table = table(froms);
    block const none = e_.new_block("empty"), run = e_.new_block("steps"), after = e_.new_block("combined");
    b_.CreateCondBr(b_.CreateICmpEQ(size_, e_.integer(0)), none, run);
    e_.at(run);
    auto const steps = begin_loop(e_, total, {});
    block const reads = e_.new_block("element"), folds = e_.new_block("fold"),
                combines = e_.new_block("combine"), moves = e_.new_block("move");
    b_.CreateCondBr(b_.CreateICmpSLT(steps.index, size_), reads, folds);
    e_.at(reads);
    store(e_.integer(9), element(steps.index));
    llvm::Value* const lane = b_.CreateAnd(steps.index, e_.integer(7));
    llvm::Value* const is_first = b_.CreateICmpSLT(steps.index, e_.integer(8));
    block const read = b_.GetInsertBlock();
    b_.CreateCondBr(is_first, moves, combines);
    e_.at(folds);
    llvm::Value* const k = b_.CreateSub(steps.index, size_);
    auto const look_up = [&](llvm::GlobalVariable* t) {
      return b_.CreateZExt(
          b_.CreateAlignedLoad(b_.getInt8Ty(), b_.CreateGEP(b_.getInt8Ty(), t, k), llvm::Align(1)), word);
    };
    llvm::Value *const to = look_up(to_table), *const from = look_up(from_table);
    block const present = e_.new_block("present");
    b_.CreateCondBr(b_.CreateICmpSLT(from, size_), present, steps.latch);
    e_.at(present);
    store(e_.integer(9), load(from));
    block const folded = b_.GetInsertBlock();
    e_.go(combines);
    e_.at(combines);
    auto* const left = b_.CreatePHI(word, 2);
    left->addIncoming(lane, read);
    left->addIncoming(to, folded);
    std::vector<value> const made = combine(load(left), load(e_.integer(9)));
    llvm::Value* const is_last = b_.CreateICmpEQ(left, e_.integer(8));
    store(b_.CreateSelect(is_last, e_.integer(0), left), made);
    e_.go(steps.latch);
    e_.at(moves);
    store(lane, load(e_.integer(9)));
    end_loop(e_, steps, {});
    e_.go(after);
    e_.at(none);
    e_.go(after);
    block const empty = b_.GetInsertBlock();
    e_.at(after);
    auto* const part = b_.CreatePHI(word, 2);
    part->addIncoming(e_.integer(0), steps.exit);
    part->addIncoming(e_.integer(is_started_ ? 8 : 0), empty);
    return part;
  }
  // Elements are read one by one; after each, complete trees of one size are combined; at the end, all remaining trees.
  llvm::Value* emit_trees() {
    llvm::Type* const word = b_.getInt64Ty();
    if (is_started_) store(e_.integer(0), initial_);
    block const from = b_.GetInsertBlock(), next = e_.new_block("element"), reads = e_.new_block("read"),
                folds = e_.new_block("fold"), merges = e_.new_block("merge"),
                combines = e_.new_block("combine"), ends = e_.new_block("combined"),
                pushes = e_.new_block("push"), done = e_.new_block("done");
    llvm::Value* const cell = e_.integer(65); // the current value
    e_.go(next);
    e_.at(next);
    auto *const i = b_.CreatePHI(word, 2), *const depth = b_.CreatePHI(word, 2);
    i->addIncoming(e_.integer(0), from);
    depth->addIncoming(e_.integer(is_started_ ? 1 : 0), from);
    llvm::Value* const more = b_.CreateICmpSLT(i, size_);
    b_.CreateCondBr(more, reads, folds);
    e_.at(reads);
    store(cell, element(i));
    llvm::Value* const i_next = b_.CreateAdd(i, e_.integer(1));
    llvm::Value* const ready = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, i_next, b_.getTrue());
    block const read = b_.GetInsertBlock();
    e_.go(merges);
    e_.at(folds);
    llvm::Value* const left_over = b_.CreateSub(depth, e_.integer(1));
    store(cell, load(left_over));
    block const folded = b_.GetInsertBlock();
    e_.go(merges);
    e_.at(merges);
    auto *const pending = b_.CreatePHI(word, 3), *const d = b_.CreatePHI(word, 3);
    pending->addIncoming(ready, read);
    pending->addIncoming(left_over, folded);
    d->addIncoming(depth, read);
    d->addIncoming(left_over, folded);
    b_.CreateCondBr(b_.CreateICmpSGT(pending, e_.integer(0)), combines, ends);
    e_.at(combines);
    llvm::Value* const d_left = b_.CreateSub(d, e_.integer(1));
    store(cell, combine(load(d_left), load(cell)));
    pending->addIncoming(b_.CreateSub(pending, e_.integer(1)), b_.GetInsertBlock());
    d->addIncoming(d_left, b_.GetInsertBlock());
    e_.go(merges);
    e_.at(ends);
    b_.CreateCondBr(more, pushes, done);
    e_.at(pushes);
    store(d, load(cell));
    i->addIncoming(b_.CreateAdd(i, e_.integer(1)), pushes);
    depth->addIncoming(b_.CreateAdd(d, e_.integer(1)), pushes);
    e_.go(next);
    e_.at(done);
    return cell;
  }

  function_state& fn_;
  emitter& e_;
  llvm::IRBuilder<>& b_;
  node_id const n_;
  region_id const region_;
  std::uint32_t const count_; // of components
  bool const is_started_;
  value_ids arrays_;
  std::uint32_t words_ = 0;
  std::vector<std::uint32_t> first_; // for each component: its first word
  std::vector<value> initial_;
  llvm::Value *size_ = nullptr, *memory_ = nullptr;
};

} // namespace

void emit_reduce(function_state& fn, node_id n) {
  ir::op const code = fn.f[n].attributes.operation;
  if (code == ir::op::none) return region_reduction(fn, n).emit();
  value const array = fn.get(fn.f.operand(n, 0));
  value_id const result = fn.f.result(n);
  ir::scalar const s = fn.type_of(result).element;
  llvm::Value *const size = array.extent(0), *const elements = array.elements();
  if (fn.f[n].attributes.is_in_order()) {
    auto const loop = begin_loop(fn.e, size, {fn.scalar(fn.f.operand(n, 1))});
    llvm::Value* const x = load_scalar(fn.e, s, element_address(fn.e, s, elements, loop.index));
    end_loop(fn.e, loop, {elementwise(fn, code, s, {loop.carried[0], x})});
    return fn.set(result, loop.carried[0]);
  }
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
  block const some = fn.e.new_block("some"), next = fn.e.new_block("after"), before = fn.b.GetInsertBlock();
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
