// What a slice takes for granted: that a change of an element is none of another element, that a turn beside it is there, that a
// comparison comes out as it did. It looks at that when it runs, and gives up where it is wrong: another slice doubts it then.
#pragma once

#include <overdub/contexts/incremental/slice_writer_lists.hpp>

namespace overdub::contexts::increments {

/// Operations from here on are only for where all assumptions hold.
inline void slice_writer::begin_assuming() {
  std::vector<ir::type> const no_arguments[2];
  front_ =
      at_.insert(op::if_, std::array{literal(ir::boolean, 1)}, std::span<ir::type const>(), {}, no_arguments);
  top_ = written().region_at(front_, 0);
  at_.to_end(top_);
}

/// Whether something may be taken for granted: it is not in doubt, nor are there too many.
inline bool slice_writer::may_assume(assumption const& a) const {
  return front_ != ir::nothing && guards_.size() < most_guards && !doubts_.all &&
         std::find(doubts_.of.begin(), doubts_.of.end(), a) == doubts_.of.end();
}
/// Whether operations go where all of the slice is, and not into a turn or a branch.
inline bool slice_writer::is_outermost() const { return turns_.empty() && at_.region() == top_; }

/// What is written next takes for granted that a condition holds, which becomes a part of the slice. False where it cannot: in turns and
/// branches a condition is to be known before anything runs.
inline bool slice_writer::assume(assumption const& a, value_id holds) {
  if (value_id const at_once = at_front(holds); at_once != ir::nothing) {
    guards_.push_back({a, at_once});
    return true;
  }
  if (!is_outermost()) return false;
  std::vector<ir::type> const no_arguments[2];
  node_id const choice =
      at_.insert(op::if_, std::array{holds}, std::span<ir::type const>(), {}, no_arguments);
  guards_.push_back({a, holds, choice});
  top_ = written().region_at(choice, 0);
  at_.to_end(top_);
  return true;
}

/// A condition that is known before anything else runs, of places and lengths: it is computed there. Nothing, where it is none.
inline value_id slice_writer::at_front(value_id v) {
  std::vector<node_id> moved;
  if (!can_be_at_front(v, moved)) return ir::nothing;
  region_id const here = at_.region();
  at_.to_before(front_);
  for (node_id const n : moved) (void)at_.clone(draft_, n, front_of_);
  at_.to_end(here);
  auto const found = front_of_.find(v);
  return found == front_of_.end() ? v : found->second;
}
/// The operations that are to be moved for it, which are few, before those that use them.
inline bool slice_writer::can_be_at_front(value_id v, std::vector<node_id>& moved) const {
  if (written().is_literal(v) || written().region_of(v) == function::body || front_of_.contains(v))
    return true;
  if (!written().is_result(v)) return false;
  node_id const n = written().node_of(v);
  if (std::find(moved.begin(), moved.end(), n) != moved.end()) return true;
  op const code = written()[n].code;
  bool const is_plain = ir::is_elementwise(code) && code != op::div && code != op::rem;
  if ((!is_plain && code != op::length) || moved.size() >= most_moved) return false;
  for (value_id const of : written().operands_of(n))
    if ((is_plain && type_of(of) != ir::i64 && type_of(of) != ir::boolean) || !can_be_at_front(of, moved))
      return false;
  moved.push_back(n);
  return true;
}

/// Whether the element that an operation reads, at indices that did not change up to an operand, is one of those that did.
inline slice_writer::meeting
slice_writer::meets(node_id n, std::uint32_t axis, std::uint32_t end, change const& c, value_id where) {
  meeting all;
  value_id const index = now(original().operand(n, axis));
  for (piece const& p : c.pieces) {
    if (p.is_new || (p.list == ir::nothing && are_apart(p.index, index))) continue;
    value_id const here = p.list != ir::nothing ? find_in(p, index).is_there : equals(p.index, index);
    value_id const is_there = both(both(where, p.valid), here);
    meeting one{is_there == ir::nothing, is_there};
    if (p.part != nullptr && axis + 1 < end) one = meets(n, axis + 1, end, *p.part, is_there);
    if (one.is_sure) return one;
    if (one.met != ir::nothing)
      all.met = all.met == ir::nothing ? one.met : at_.add(op::logical_or, all.met, one.met);
  }
  return all;
}
/// Whether what it reads is none of them, or is taken not to be.
inline bool slice_writer::is_taken_apart(node_id n, change const& c, std::uint32_t end) {
  value_id const index = now(original().operand(n, 1));
  auto const is_apart = [&](piece const& p) {
    return p.is_new || (p.list == ir::nothing && are_apart(p.index, index));
  };
  if (std::all_of(c.pieces.begin(), c.pieces.end(), is_apart)) return true;
  assumption const apart{original().result(n)};
  if (has_unsearchable(c) || !may_assume(apart)) return false;
  meeting const m = meets(n, 1, end, c, ir::nothing);
  if (m.is_sure || m.met == ir::nothing) return !m.is_sure;
  if (!assume(apart, at_.add(op::logical_not, m.met))) return false;
  note(n, step::extent::unchanged);
  return true;
}

/// Ends what was assumed. The results are the same, and behind them, which assumptions failed.
inline void slice_writer::end_assuming(std::vector<value_id> const& results) {
  std::vector<value_id> given = results;
  if (!guards_.empty()) given.push_back(literal(ir::i64, 0));
  at_.yield(given);
  if (front_ == ir::nothing) return;
  std::vector<ir::type> types;
  for (value_id const v : given) types.push_back(type_of(v));
  auto const otherwise = [&](node_id choice, auto const& failed) {
    at_.to_end(written().region_at(choice, 1));
    std::vector<value_id> none;
    for (std::size_t k = 0; k < results.size(); ++k) none.push_back(nothing_of(types[k]));
    none.push_back(failed());
    at_.yield(none);
    at_.set_results(choice, types);
    at_.to_after(choice);
    for (std::uint32_t k = 0; k < given.size(); ++k) given[k] = written().result(choice, k);
    at_.yield(given);
  };
  auto const bit = [&](std::size_t k) { return literal(ir::i64, std::uint64_t{1} << k); };
  for (std::size_t k = guards_.size(); k-- > 0;)
    if (guards_[k].choice != ir::nothing) otherwise(guards_[k].choice, [&] { return bit(k); });
  value_id all = ir::nothing;
  at_.to_before(front_);
  for (guard const& g : guards_)
    if (g.choice == ir::nothing) all = both(all, g.holds);
  if (all == ir::nothing) return;
  at_.set_operand(front_, 0, all);
  otherwise(front_, [&] {
    value_id failed = literal(ir::i64, 0);
    for (std::size_t k = 0; k < guards_.size(); ++k)
      if (guards_[k].choice == ir::nothing)
        failed =
            at_.add(op::bit_or, failed, at_.add(op::select, guards_[k].holds, literal(ir::i64, 0), bit(k)));
    return failed;
  });
}

// ---- what is worth it

/// Whether an operation that runs again may well give what it gave: comparisons, choices, what is rounded, where loops ended.
inline bool slice_writer::may_stay(node_id n) const {
  auto const is_whole = [&](value_id v) {
    return original().type_of(v) == ir::boolean || !original().type_of(v).is_floating();
  };
  switch (original()[n].code) {
  case op::eq:
  case op::ne:
  case op::lt:
  case op::le:
  case op::gt:
  case op::ge:
  case op::isnan:
  case op::isinf:
  case op::isfinite:
  case op::signbit:
  case op::logical_and:
  case op::logical_or:
  case op::select:
  case op::min:
  case op::max:
  case op::clamp:
  case op::fmin:
  case op::fmax:
  case op::fdim:
  case op::bit_and:
  case op::bit_or:
  case op::shift_right:
  case op::rem:
  case op::floor:
  case op::ceil:
  case op::trunc:
  case op::round:
  case op::nearbyint:
  case op::rint:
  case op::if_:
  case op::loop:
  case op::while_:
    return true;
  case op::div:
    return is_whole(original().result(n));
  case op::convert:
    return is_whole(original().result(n)) && !is_whole(original().operand(n, 0));
  case op::reduce:
    return original()[n].attributes.operation != op::add;
  default:
    return false;
  }
}

/// Whether maps, loops or arrays depend on a number, by other numbers, too. O(values), once.
inline bool slice_writer::has_costly_uses(value_id v) {
  if (!costly_.empty()) return costly_[index_of(v)] != 0;
  function const& f = original();
  costly_.assign(f.value_count(), 0);
  std::vector<node_id> all;
  for (node_id const n : f.nodes_of(function::body)) all.push_back(n);
  for (auto n = all.rbegin(); n != all.rend(); ++n) {
    op const code = f[*n].code;
    bool costs = code == op::map || code == op::loop || code == op::reduce || code == op::while_ ||
                 (code == op::if_ && has_turns(*n));
    for (value_id const r : f.results_of(*n))
      costs = costs || f.type_of(r).rank > 0 || costly_[index_of(r)] != 0;
    if (!costs) continue;
    auto const mark = [&](value_id of) {
      if (!f.is_literal(of)) costly_[index_of(of)] = 1;
    };
    for (value_id const of : f.operands_of(*n)) mark(of);
    if (f[*n].region_count != 0)
      for (value_id const of : captured(*n)) mark(of);
  }
  return costly_[index_of(v)] != 0;
}

/// A number is another one now; or it is taken to be what it was, where that spares something.
inline bool slice_writer::set_or_keep(node_id n, value_id v, value_id now) {
  ir::type const t = original().type_of(v);
  bool const is_number = t.rank == 0 && t.is_literal() && original()[n].parent == function::body;
  if (!is_number || !is_outermost() || is_new_turn_ || !may_assume({v}) || !may_stay(n) ||
      !has_costly_uses(v)) {
    set_whole(v, now);
    return false;
  }
  note(n, step::extent::unchanged);
  return assume({v}, at_.add(op::logical_not, differs(now, old(v))));
}

} // namespace overdub::contexts::increments
