#include "look_ahead.hpp"

#include "bounds_checks.hpp"
#include "scalars.hpp"

#include <overdub/ir/regions.hpp>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <optional>
#include <utility>
#include <vector>

namespace overdub::jit {
namespace {

using regions = llvm::SmallVector<region_id, 4>;

bool have_common(regions const& a, regions const& b) {
  return llvm::any_of(a, [&](region_id r) { return llvm::is_contained(b, r); });
}

class ranges_ahead {
public:
  ranges_ahead(function_state& of, region_id body, llvm::Value* count)
      : fn_(of), f_(of.f), b_(of.b), body_(body) {
    loops_.push_back({body, {count, count, {}, nullptr}, {body}});
  }

  /// Emits the check whether all covered indices are in range; null if no access is covered.
  llvm::Value* all_good() {
    look_in(body_);
    return good_ == nullptr ? nullptr : b_.CreateOr(is_empty(loops_[0]), good_);
  }
  std::vector<node_id> const& accesses() const { return accesses_; }

private:
  // The range of an integer over all iterations.
  struct range {
    llvm::Value *least, *most;
    regions loops;          // the loops with whose indices it varies; none: both ends are equal
    llvm::Value* overflows; // whether an end overflowed in its computation; null: never
  };
  struct loop {
    region_id body;
    range count;
    regions changes_with; // itself, and the loops with whose indices its trip count varies, transitively
  };

  void look_in(region_id r) {
    for (node_id const n : f_.nodes_of(r)) {
      switch (f_[n].code) {
      case ir::op::at:
        check(n, f_[n].operand_count - 1);
        break;
      case ir::op::update:
      case ir::op::add_to:
        check(n, f_[n].operand_count - 2);
        break;
      case ir::op::accumulate:
        look_in(f_.region_at(n, 0));
        break;
      default:
        if (ir::is_counted(f_[n].code)) look_in_loop(n);
      }
    }
  }
  void look_in_loop(node_id n) {
    auto const count = range_of(f_.operand(n, 0));
    if (!count || !are_independent(count->loops)) return;
    region_id const body = f_.region_at(n, 0);
    loops_.push_back({body, *count, closure(count->loops)});
    loops_.back().changes_with.push_back(body);
    look_in(body);
    loops_.pop_back();
  }

  void check(node_id n, std::uint32_t indices) {
    llvm::SmallVector<std::pair<std::uint32_t, range>, 2> needed;
    for (std::uint32_t k = 0; k < indices; ++k) {
      if (is_checked(fn_, n, k)) continue;
      auto const i = range_of(f_.operand(n, 1 + k));
      if (!i || !is_reached(i->loops)) return;
      needed.push_back({k, *i});
    }
    auto const array = array_in_front(f_.operand(n, 0));
    if (needed.empty() || !array) return;
    llvm::Value* good = nullptr;
    for (auto const& [k, i] : needed) {
      good = both(good, is_in_range(f_.operand(n, 1 + k), i, fn_.get(*array).extent(k)));
    }
    // The access runs in some iteration unless an enclosing loop never iterates.
    for (std::size_t k = 1; k < loops_.size(); ++k) good = b_.CreateOr(good, is_empty(loops_[k]));
    good_ = both(good_, good);
    accesses_.push_back(n);
  }
  llvm::Value* is_in_range(value_id v, range const& i, llvm::Value* extent) {
    if (i.loops.empty()) return b_.CreateICmpULT(i.most, extent);
    llvm::Value *least = i.least, *most = i.most, *overflows = i.overflows;
    if (auto const sum = sum_with_index(v)) {
      least = sum->first;
      most = sum->second;
      overflows = nullptr;
    }
    llvm::Value* const good = b_.CreateAnd(b_.CreateICmpULE(least, most), b_.CreateICmpULT(most, extent));
    return overflows == nullptr ? good : b_.CreateAnd(good, b_.CreateNot(overflows));
  }
  // The ends of the sum of a loop-invariant value and the index of a loop. If the sum overflows, then, as unsigned numbers,
  // the upper end is out of range or less than the lower one, so that the check fails.
  std::optional<std::pair<llvm::Value*, llvm::Value*>> sum_with_index(value_id v) {
    if (!f_.is_result(v) || f_[f_.node_of(v)].code != ir::op::add) return {};
    node_id const n = f_.node_of(v);
    for (std::uint32_t k = 0; k < 2; ++k) {
      loop const* const l = loop_of_index(f_.operand(n, k));
      auto const other = range_of(f_.operand(n, 1 - k));
      if (l == nullptr || l->count.overflows != nullptr || !other || !other->loops.empty()) continue;
      llvm::Value* const last = b_.CreateSub(l->count.most, fn_.e.integer(1));
      return std::pair{other->least, b_.CreateAdd(other->least, last)};
    }
    return {};
  }
  llvm::Value* is_empty(loop const& l) {
    llvm::Value* const none = b_.CreateICmpSLE(l.count.most, fn_.e.integer(0));
    return l.count.overflows == nullptr ? none : b_.CreateAnd(none, b_.CreateNot(l.count.overflows));
  }
  llvm::Value* both(llvm::Value* x, llvm::Value* y) { return x == nullptr ? y : b_.CreateAnd(x, y); }

  // An array that is defined before the loop, with the extents of an array that the loop reads; nothing, if there is none.
  std::optional<value_id> array_in_front(value_id array) const {
    value_id const carried = updated_array(f_, array);
    if (fn_.in_place.has(carried) && is_in_front(carried)) return carried;
    if (!ir::is_defined_in(f_, array, body_)) return array;
    return {};
  }

  // Whether a value is defined before the first iteration: outside of the loop, or as its initial value.
  bool is_in_front(value_id v) const { return f_.region_of(v) == body_ || !ir::is_defined_in(f_, v, body_); }

  loop const* loop_of_index(value_id v) const {
    for (loop const& l : loops_)
      if (v == f_.argument(l.body, 0)) return &l;
    return nullptr;
  }
  regions closure(regions const& all) const {
    regions found;
    for (loop const& l : loops_)
      if (llvm::is_contained(all, l.body)) found.append(l.changes_with.begin(), l.changes_with.end());
    return found;
  }
  // Whether these loops' indices vary independently, so that some iteration has each combination of their ends.
  bool are_independent(regions const& all) const {
    regions found;
    for (loop const& l : loops_) {
      if (!llvm::is_contained(all, l.body)) continue;
      if (have_common(found, l.changes_with)) return false;
      found.append(l.changes_with.begin(), l.changes_with.end());
    }
    return true;
  }
  // Whether, in addition, no other enclosing loop has a trip count that varies with these loops, and may be 0 in that iteration.
  bool is_reached(regions const& all) const {
    if (!are_independent(all)) return false;
    regions const with = closure(all);
    return llvm::none_of(loops_, [&](loop const& l) {
      return !llvm::is_contained(with, l.body) && have_common(with, l.changes_with);
    });
  }

  std::optional<range> range_of(value_id v, int depth = 0) {
    if (auto const known = known_.find(index_of(v)); known != known_.end()) return known->second;
    auto const made = new_range(v, depth);
    known_.insert({index_of(v), made});
    return made;
  }
  std::optional<range> new_range(value_id v, int depth) {
    if (f_.is_literal(v)) return alone(fn_.literal(v));
    if (!ir::is_defined_in(f_, v, body_)) return alone(fn_.scalar(v));
    if (loop const* const l = loop_of_index(v)) {
      llvm::Value* const last = b_.CreateSub(l->count.most, fn_.e.integer(1));
      return range{fn_.e.integer(0), last, {l->body}, l->count.overflows};
    }
    constexpr int maximum_depth = 16;
    if (!f_.is_result(v) || depth > maximum_depth || fn_.type_of(v) != ir::i64) return {};
    node_id const n = f_.node_of(v);
    ir::op const code = f_[n].code;
    if (code != ir::op::add && code != ir::op::sub && code != ir::op::mul && code != ir::op::div) return {};
    auto const x = range_of(f_.operand(n, 0), depth + 1);
    if (!x) return {};
    if (code == ir::op::div) {
      value_id const by = f_.operand(n, 1);
      if (!f_.is_literal(by) || static_cast<std::int64_t>(f_.bits_of(by)) <= 0) return {};
      llvm::Value* const y = fn_.literal(by);
      if (x->loops.empty()) return alone(integral(fn_, code, {x->least, y}));
      return range{b_.CreateSDiv(x->least, y), b_.CreateSDiv(x->most, y), x->loops, x->overflows};
    }
    auto const y = range_of(f_.operand(n, 1), depth + 1);
    if (!y) return {};
    return combined(code, *x, *y);
  }
  static range alone(llvm::Value* x) { return {x, x, {}, nullptr}; }

  std::optional<range> combined(ir::op code, range const& x, range const& y) {
    if (x.loops.empty() && y.loops.empty()) return alone(integral(fn_, code, {x.least, y.least}));
    if (have_common(x.loops, y.loops)) return {};
    range made{nullptr, nullptr, x.loops, either(x.overflows, y.overflows)};
    made.loops.append(y.loops.begin(), y.loops.end());
    auto const of = [&](llvm::Intrinsic::ID what, llvm::Value* a, llvm::Value* b) {
      llvm::Value* const both = b_.CreateBinaryIntrinsic(what, a, b);
      made.overflows = either(made.overflows, b_.CreateExtractValue(both, 1));
      return b_.CreateExtractValue(both, 0);
    };
    if (code == ir::op::add) {
      made.least = of(llvm::Intrinsic::sadd_with_overflow, x.least, y.least);
      made.most = of(llvm::Intrinsic::sadd_with_overflow, x.most, y.most);
    } else if (code == ir::op::sub) {
      made.least = of(llvm::Intrinsic::ssub_with_overflow, x.least, y.most);
      made.most = of(llvm::Intrinsic::ssub_with_overflow, x.most, y.least);
    } else {
      if (!x.loops.empty() && !y.loops.empty()) return {};
      range const &changes = x.loops.empty() ? y : x, &factor = x.loops.empty() ? x : y;
      llvm::Value* const one = of(llvm::Intrinsic::smul_with_overflow, changes.least, factor.least);
      llvm::Value* const other = of(llvm::Intrinsic::smul_with_overflow, changes.most, factor.least);
      made.least = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, one, other);
      made.most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, one, other);
    }
    return made;
  }
  llvm::Value* either(llvm::Value* x, llvm::Value* y) {
    if (x == nullptr || y == nullptr) return x == nullptr ? y : x;
    return b_.CreateOr(x, y);
  }

  function_state& fn_;
  ir::function const& f_;
  llvm::IRBuilder<>& b_;
  region_id const body_;
  llvm::SmallVector<loop, 4> loops_;                          // the enclosing loops, from the outermost
  llvm::DenseMap<std::uint32_t, std::optional<range>> known_; // for each value
  llvm::Value* good_ = nullptr;
  std::vector<node_id> accesses_;
};

} // namespace

void look_ahead(function_state& fn, region_id body, llvm::Value* count) {
  ranges_ahead ahead(fn, body, count);
  llvm::Value* const good = ahead.all_good();
  if (good == nullptr) return;
  fn.program.needs.interpreter = true;
  (void)fn.e.machine(); // which catches fails_ahead
  fn.e.require(good, runtime_function::throw_fails_ahead, {});
  for (node_id const n : ahead.accesses()) fn.unchecked[index_of(n)] = 1;
}

} // namespace overdub::jit
