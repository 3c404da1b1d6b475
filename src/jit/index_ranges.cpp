#include "index_ranges.hpp"

#include <overdub/implementation/ir/operands.hpp>
#include <overdub/ir/regions.hpp>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <utility>

namespace overdub::jit {
using ir::node_id;
using ir::region_id;
using ir::value_id;

namespace {

using region_set = llvm::SmallVector<region_id, 4>;

bool have_common(region_set const& a, region_set const& b) {
  return llvm::any_of(a, [&](region_id r) { return llvm::is_contained(b, r); });
}

class ahead_planner {
public:
  ahead_planner(
      ir::function const& f, ir::in_place_arrays const& in_place, known_in_range const& in_range,
      region_id body)
      : f_(f), in_place_(in_place), in_range_(in_range), body_(body) {}

  ahead_plan plan() {
    value_id const count = f_.operand(f_[body_].parent, 0);
    made_.loops.push_back(add({.is = index_range::kind::outside, .value = count}));
    enclosing_.push_back({body_, 0, {body_}});
    look_in(body_);
    return std::move(made_);
  }

private:
  struct loop {
    region_id body;
    plan_number number;
    region_set changes_with; // itself, and the loops with whose indices its trip count varies, transitively
  };

  void look_in(region_id r) {
    for (node_id const n : f_.nodes_of(r)) {
      switch (f_[n].code) {
      case ir::op::at:
      case ir::op::update:
      case ir::op::add_to:
        check(n, ir::index_count(f_, n));
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
    if (!count || !are_independent(loops_of(*count))) return;
    region_id const body = f_.region_at(n, 0);
    auto const number = static_cast<plan_number>(made_.loops.size());
    made_.loops.push_back(*count);
    enclosing_.push_back({body, number, closure(loops_of(*count))});
    enclosing_.back().changes_with.push_back(body);
    look_in(body);
    enclosing_.pop_back();
  }

  void check(node_id n, std::uint32_t indices) {
    ahead_check made{n, {}, {}, {}};
    for (std::uint32_t k = 0; k < indices; ++k) {
      if (in_range_.has(n, k)) continue;
      value_id const index = f_.operand(n, 1 + k);
      auto const range = range_of(index);
      if (!range || !is_reached(loops_of(*range))) return;
      made.indices.push_back({k, *range, shifted_index(index)});
    }
    auto const array = array_in_front(f_.operand(n, 0));
    if (made.indices.empty() || !array) return;
    made.array = *array;
    for (loop const& l : llvm::drop_begin(enclosing_)) made.inside.push_back(l.number);
    made_.checks.push_back(std::move(made));
  }
  // A value as the sum of a loop-invariant value and the index of a loop.
  std::optional<index_check::shifted_index> shifted_index(value_id v) {
    if (!f_.is_result(v) || f_[f_.node_of(v)].code != ir::op::add) return {};
    node_id const n = f_.node_of(v);
    for (std::uint32_t k = 0; k < 2; ++k) {
      loop const* const l = loop_of_index(f_.operand(n, k));
      auto const other = range_of(f_.operand(n, 1 - k));
      if (l == nullptr || may_overflow(made_.loops[l->number]) || !other || !loops_of(*other).empty())
        continue;
      return index_check::shifted_index{l->number, *other};
    }
    return {};
  }

  // An array that is defined before the loop, with the extents of an array that the loop reads; nothing, if there is
  // none.
  std::optional<value_id> array_in_front(value_id array) const {
    value_id const carried = ir::updated_array(f_, array);
    if (in_place_.has(carried) && is_in_front(carried)) return carried;
    if (!ir::is_defined_in(f_, array, body_)) return array;
    return {};
  }
  // Whether a value is defined before the first iteration: outside of the loop, or as an initial value.
  bool is_in_front(value_id v) const { return f_.region_of(v) == body_ || !ir::is_defined_in(f_, v, body_); }

  loop const* loop_of_index(value_id v) const {
    for (loop const& l : enclosing_)
      if (v == f_.argument(l.body, 0)) return &l;
    return nullptr;
  }
  region_set closure(region_set const& all) const {
    region_set found;
    for (loop const& l : enclosing_)
      if (llvm::is_contained(all, l.body)) found.append(l.changes_with.begin(), l.changes_with.end());
    return found;
  }
  // Whether these loops' indices vary independently, so that some iteration has each combination of their ends.
  bool are_independent(region_set const& all) const {
    region_set found;
    for (loop const& l : enclosing_) {
      if (!llvm::is_contained(all, l.body)) continue;
      if (have_common(found, l.changes_with)) return false;
      found.append(l.changes_with.begin(), l.changes_with.end());
    }
    return true;
  }
  // Whether, in addition, no other enclosing loop has a trip count that varies with these loops, and may be 0 in that
  // iteration.
  bool is_reached(region_set const& all) const {
    if (!are_independent(all)) return false;
    region_set const with = closure(all);
    return llvm::none_of(enclosing_, [&](loop const& l) {
      return !llvm::is_contained(with, l.body) && have_common(with, l.changes_with);
    });
  }

  // ---- ranges

  plan_number add(index_range r) {
    made_.ranges.push_back(std::move(r));
    return static_cast<plan_number>(made_.ranges.size() - 1);
  }
  region_set const& loops_of(plan_number range) const { return made_.ranges[range].loops; }
  bool may_overflow(plan_number range) const { return made_.ranges[range].may_overflow; }

  std::optional<plan_number> range_of(value_id v, int depth = 0) {
    if (auto const known = known_.find(index_of(v)); known != known_.end()) return known->second;
    auto const made = new_range(v, depth);
    known_.insert({index_of(v), made});
    return made;
  }
  std::optional<plan_number> new_range(value_id v, int depth) {
    if (f_.is_literal(v) || !ir::is_defined_in(f_, v, body_))
      return add({.is = index_range::kind::outside, .value = v});
    if (loop const* const l = loop_of_index(v))
      return add(
          {.is = index_range::kind::index,
           .loop = l->number,
           .loops = {l->body},
           .may_overflow = may_overflow(made_.loops[l->number])});
    constexpr int maximum_depth = 16;
    if (!f_.is_result(v) || depth > maximum_depth || f_.type_of(v) != ir::i64) return {};
    node_id const n = f_.node_of(v);
    ir::op const code = f_[n].code;
    if (code != ir::op::add && code != ir::op::sub && code != ir::op::mul && code != ir::op::div) return {};
    auto const x = range_of(f_.operand(n, 0), depth + 1);
    if (!x) return {};
    value_id const by = f_.operand(n, 1);
    if (code == ir::op::div && (!f_.is_literal(by) || static_cast<std::int64_t>(f_.bits_of(by)) <= 0))
      return {};
    auto const y = range_of(by, depth + 1);
    if (!y) return {};
    return combined(code, *x, *y);
  }
  std::optional<plan_number> combined(ir::op code, plan_number x, plan_number y) {
    region_set const &of_x = loops_of(x), &of_y = loops_of(y);
    if (of_x.empty() && of_y.empty())
      return add({.is = index_range::kind::invariant, .code = code, .x = x, .y = y});
    if (have_common(of_x, of_y) || (code == ir::op::mul && !of_x.empty() && !of_y.empty())) return {};
    index_range made{.is = index_range::kind::varying, .code = code, .x = x, .y = y, .loops = of_x};
    made.loops.append(of_y.begin(), of_y.end());
    // Quotients by positive literals do not overflow.
    made.may_overflow = code != ir::op::div || may_overflow(x);
    return add(std::move(made));
  }

  ir::function const& f_;
  ir::in_place_arrays const& in_place_;
  known_in_range const& in_range_;
  region_id const body_;
  llvm::SmallVector<loop, 4> enclosing_;                            // from the outermost
  llvm::DenseMap<std::uint32_t, std::optional<plan_number>> known_; // for each value
  ahead_plan made_;
};

} // namespace

ahead_plan plan_ahead(
    ir::function const& f, ir::in_place_arrays const& in_place, known_in_range const& in_range,
    region_id body) {
  return ahead_planner(f, in_place, in_range, body).plan();
}

} // namespace overdub::jit
