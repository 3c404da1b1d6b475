#include "look_ahead.hpp"

#include "scalars.hpp"

#include <overdub/implementation/ir/index_ranges.hpp>

#include <vector>

namespace overdub::jit {
using ir::ahead_check;
using ir::ahead_plan;
using ir::index_check;
using ir::index_range;
using ir::plan_number;

namespace {

// The ends of a range.
struct range_ends {
  llvm::Value *least = nullptr, *most = nullptr;
  llvm::Value* overflows = nullptr; // whether an end overflowed in its computation; null: never
};

class ahead_emitter {
public:
  ahead_emitter(function_state& fn, ahead_plan const& plan)
      : fn_(fn), b_(fn.b), plan_(plan), ends_(plan.ranges.size()), needed_(plan.ranges.size()) {
    need(plan.loops[0].trip_count);
    for (ahead_check const& c : plan.checks)
      for (plan_number const r : read_by(c)) need(r);
  }

  // Whether all covered indices are in range.
  llvm::Value* all_good() {
    llvm::Value* good = nullptr;
    for (ahead_check const& c : plan_.checks) good = both(good, is_good(c));
    return b_.CreateOr(is_empty(0), good);
  }

private:
  // The ranges that a check reads.
  llvm::SmallVector<plan_number, 8> read_by(ahead_check const& c) const {
    llvm::SmallVector<plan_number, 8> all;
    for (index_check const& i : c.indices)
      if (i.shifted)
        all.append({plan_.loops[i.shifted->loop].trip_count, i.shifted->shift});
      else
        all.push_back(i.range);
    for (plan_number const l : c.inside) all.push_back(plan_.loops[l].trip_count);
    return all;
  }
  void need(plan_number range) {
    if (needed_[range]) return;
    needed_[range] = true;
    index_range const& r = plan_.ranges[range];
    if (r.is == index_range::kind::index) need(plan_.loops[r.loop].trip_count);
    if (r.is == index_range::kind::invariant || r.is == index_range::kind::varying) {
      need(r.x);
      need(r.y);
    }
  }

  // Emits the ends of the ranges up to one, as far as checks need them.
  void emit_ranges(plan_number last) {
    for (; emitted_ <= last; ++emitted_)
      if (needed_[emitted_]) ends_[emitted_] = ends_of(plan_.ranges[emitted_]);
  }
  range_ends ends_of(index_range const& r) {
    switch (r.is) {
    case index_range::kind::outside: {
      llvm::Value* const x = fn_.scalar(r.value);
      return {x, x, nullptr};
    }
    case index_range::kind::index: {
      range_ends const& count = ends_[plan_.loops[r.loop].trip_count];
      return {fn_.e.integer(0), b_.CreateSub(count.most, fn_.e.integer(1)), count.overflows};
    }
    case index_range::kind::invariant: {
      llvm::Value* const x = integral(fn_, r.code, {ends_[r.x].least, ends_[r.y].least});
      return {x, x, nullptr};
    }
    case index_range::kind::varying:
      break;
    }
    return combined(r);
  }
  range_ends combined(index_range const& r) {
    range_ends const &x = ends_[r.x], &y = ends_[r.y];
    if (r.code == ir::op::div)
      return {b_.CreateSDiv(x.least, y.least), b_.CreateSDiv(x.most, y.least), x.overflows};
    range_ends made{nullptr, nullptr, either(x.overflows, y.overflows)};
    auto const of = [&](llvm::Intrinsic::ID what, llvm::Value* a, llvm::Value* b) {
      llvm::Value* const both = b_.CreateBinaryIntrinsic(what, a, b);
      made.overflows = either(made.overflows, b_.CreateExtractValue(both, 1));
      return b_.CreateExtractValue(both, 0);
    };
    if (r.code == ir::op::add) {
      made.least = of(llvm::Intrinsic::sadd_with_overflow, x.least, y.least);
      made.most = of(llvm::Intrinsic::sadd_with_overflow, x.most, y.most);
    } else if (r.code == ir::op::sub) {
      made.least = of(llvm::Intrinsic::ssub_with_overflow, x.least, y.most);
      made.most = of(llvm::Intrinsic::ssub_with_overflow, x.most, y.least);
    } else {
      bool const is_factor = plan_.ranges[r.x].loops.empty();
      range_ends const &changes = is_factor ? y : x, &factor = is_factor ? x : y;
      llvm::Value* const one = of(llvm::Intrinsic::smul_with_overflow, changes.least, factor.least);
      llvm::Value* const other = of(llvm::Intrinsic::smul_with_overflow, changes.most, factor.least);
      made.least = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, one, other);
      made.most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, one, other);
    }
    return made;
  }

  llvm::Value* is_good(ahead_check const& c) {
    for (plan_number const r : read_by(c)) emit_ranges(r);
    value const array = fn_.get(c.array);
    llvm::Value* good = nullptr;
    for (index_check const& i : c.indices) good = both(good, is_in_range(i, array.extent(i.axis)));
    // The access runs in some iteration unless an enclosing loop never iterates.
    for (plan_number const l : c.inside) good = b_.CreateOr(good, is_empty(l));
    return good;
  }
  llvm::Value* is_in_range(index_check const& i, llvm::Value* extent) {
    range_ends r = ends_[i.range];
    if (plan_.ranges[i.range].loops.empty()) return b_.CreateICmpULT(r.most, extent);
    if (i.shifted) {
      // If the sum overflows, then, as unsigned numbers, the upper end is out of range or less than the lower one, so
      // that the check fails.
      llvm::Value* const last =
          b_.CreateSub(ends_[plan_.loops[i.shifted->loop].trip_count].most, fn_.e.integer(1));
      llvm::Value* const shift = ends_[i.shifted->shift].least;
      r = {shift, b_.CreateAdd(shift, last), nullptr};
    }
    llvm::Value* const good =
        b_.CreateAnd(b_.CreateICmpULE(r.least, r.most), b_.CreateICmpULT(r.most, extent));
    return r.overflows == nullptr ? good : b_.CreateAnd(good, b_.CreateNot(r.overflows));
  }
  llvm::Value* is_empty(plan_number l) {
    range_ends const& count = ends_[plan_.loops[l].trip_count];
    llvm::Value* const none = b_.CreateICmpSLE(count.most, fn_.e.integer(0));
    return count.overflows == nullptr ? none : b_.CreateAnd(none, b_.CreateNot(count.overflows));
  }

  llvm::Value* both(llvm::Value* x, llvm::Value* y) { return x == nullptr ? y : b_.CreateAnd(x, y); }
  llvm::Value* either(llvm::Value* x, llvm::Value* y) {
    if (x == nullptr || y == nullptr) return x == nullptr ? y : x;
    return b_.CreateOr(x, y);
  }

  function_state& fn_;
  llvm::IRBuilder<>& b_;
  ahead_plan const& plan_;
  std::vector<range_ends> ends_; // for each range
  std::vector<bool> needed_;     // for each range: some check reads its ends
  plan_number emitted_ = 0;      // the ranges before it are emitted
};

} // namespace

void look_ahead(function_state& fn, region_id body) {
  if (!fn.program.is_repeatable) return;
  ahead_plan const plan = ir::plan_ahead(fn.f, fn.in_place, fn.in_range, body);
  if (plan.checks.empty()) return;
  llvm::Value* const good = ahead_emitter(fn, plan).all_good();
  fn.program.needs.interpreter = true;
  (void)fn.e.machine(); // which catches fails_ahead
  fn.e.require(good, runtime_function::throw_fails_ahead, {});
  for (ahead_check const& c : plan.checks) fn.in_range.set_covered(c.access, true);
}

} // namespace overdub::jit
