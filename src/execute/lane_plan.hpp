// Uniformity analysis: which values of the body of a map, or of a loop without loop-carried values, vary between iterations, and whether
// the body can be vectorised.
#pragma once

#include <overdub/implementation/ir/operands.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace overdub::execute {

/// The analysis of one body. A block is some consecutive iterations, one in each lane. A value varies if it may differ between iterations;
/// otherwise it is uniform, and computed once for a block.
class lane_plan {
public:
  using value_id = ir::value_id;
  using node_id = ir::node_id;
  using region_id = ir::region_id;

  /// O(operations × depth of loops).
  lane_plan(ir::function const& f, region_id body)
      : f_(f), body_(body), varies_(f.value_count()), strided_(f.value_count()), in_lanes_(f.node_count()) {
    varies_[index_of(index())] = true;
    while (look_at(body)) {
    }
    mark(body);
    look_for_adds(body);
    strided_[index_of(index())] = true;
    find_strided(body);
    fits_ = region_fits(body, false);
  }

  /// Whether the body can be vectorised.
  bool fits() const { return fits_; }
  region_id body() const { return body_; }
  /// The index of the element.
  value_id index() const { return f_.argument(body_, 0); }
  bool varies(value_id v) const { return varies_[index_of(v)]; }
  /// Whether an operation is lowered for all lanes: an operand or a result varies, an operation nested in it is in lanes, or it adds to an
  /// accumulator outside of the body. Others are lowered once for a block.
  bool is_in_lanes(node_id n) const { return in_lanes_[index_of(n)]; }
  /// Whether a value is a literal, or is defined outside of the body. Such a value is live during all blocks.
  bool is_outside(value_id v) const { return !ir::is_defined_in(f_, v, body_); }
  /// Whether a value is strided, first + lane * step with a uniform first and step: the index, and its sums, differences and products with
  /// uniform values. The two numbers replace a vector of indices.
  bool is_strided(value_id v) const { return strided_[index_of(v)]; }
  /// Whether a strided value is also needed as a vector: it has a use that is no index, and is not strided itself.
  bool needs_lanes(value_id v) const {
    for (ir::use_id const u : f_.uses_of(v))
      if (!indexes(u, v) && !makes_strided(f_[u].user)) return true;
    return false;
  }

  /// When additions to an accumulator outside of the body are performed. at_once: by the operation. by_cell: they are recorded, and summed
  /// for each number of the accumulator at the latest at the end of the block; all lanes add to the same numbers, since all indices are
  /// uniform. by_lane: they are recorded, and performed lane by lane at the end of the block.
  enum class adds { at_once, by_cell, by_lane };
  adds adding(value_id acc) const {
    auto const found =
        std::find_if(adds_.begin(), adds_.end(), [&](adding_to const& a) { return a.acc == acc; });
    return found == adds_.end() ? adds::at_once : found->how;
  }
  /// Whether a region of the body adds to accumulators. O(operations).
  bool adds_in(region_id r) const {
    return any_add_in(r, [](node_id) { return true; });
  }
  /// Whether it does, and the additions are deferred. O(operations).
  bool defers_in(region_id r) const {
    return any_add_in(r, [&](node_id n) { return adding(f_.operand(n, 0)) != adds::at_once; });
  }

private:
  using op = ir::op;
  struct adding_to {
    value_id acc;
    node_id last = ir::nothing;
    std::uint32_t count = 0;
    bool own_elements = true, index_varies = false;
    adds how = adds::at_once;
  };

  template <class F>
  bool any_add_in(region_id r, F const& counts) const {
    for (node_id const n : f_.nodes_of(r)) {
      if (f_[n].code == op::add_to && counts(n)) return true;
      for (region_id const inner : f_.regions_of(n))
        if (any_add_in(inner, counts)) return true;
    }
    return false;
  }

  // Whether a use is only as an index.
  bool indexes(ir::use_id u, value_id v) const {
    node_id const n = f_[u].user;
    if (f_[n].code == op::at) return true;
    return (f_[n].code == op::update || f_[n].code == op::add_to) &&
           f_.operand(n, f_[n].operand_count - 1) != v;
  }
  bool makes_strided(node_id n) const { return f_[n].result_count == 1 && is_strided(f_.result(n)); }
  void find_strided(region_id r) {
    for (node_id const n : f_.nodes_of(r)) {
      for (region_id const inner : f_.regions_of(n)) find_strided(inner);
      op const c = f_[n].code;
      if ((c != op::add && c != op::sub && c != op::mul) || f_.type_of(f_.result(n)) != ir::i64) continue;
      value_id const a = f_.operand(n, 0), b = f_.operand(n, 1);
      strided_[index_of(f_.result(n))] = (is_strided(a) && !varies(b)) || (is_strided(b) && !varies(a));
    }
  }

  // ---- varying values, to a fixpoint

  bool mark_varying(value_id v, bool varying) {
    if (!varying || varies_[index_of(v)]) return false;
    varies_[index_of(v)] = true;
    return true;
  }
  bool any_operand_varies(node_id n) const {
    for (value_id const v : f_.operands_of(n))
      if (varies(v)) return true;
    return false;
  }
  value_id yielded(region_id r, std::uint32_t k) const { return f_.operand(f_.yield_of(r), k); }

  bool look_at(region_id r) {
    bool changed = false;
    for (node_id const n : f_.nodes_of(r)) changed = look_at(n) || changed;
    return changed;
  }
  bool look_at(node_id n) {
    bool changed = false;
    for (region_id const r : f_.regions_of(n)) changed = look_at(r) || changed;
    auto const mark_varying_too = [&](value_id v) { changed = mark_varying(v, true) || changed; };
    op const code = f_[n].code;
    if (code == op::length || (code == op::yield && f_[n].parent == body_)) return changed;
    if (code == op::add_to) {
      value_id const acc = f_.operand(n, 0);
      if (is_outside(acc) || !(any_operand_varies(n) || is_in_some_lanes(n))) return changed;
      mark_varying_too(acc);
      mark_varying_too(f_.result(ir::owner_of(f_, acc), f_[acc].index));
    } else if (code == op::yield || code == op::reduce || f_[n].region_count > 0) {
      for (std::uint32_t i = 0; i < f_[n].operand_count; ++i)
        if (varies(f_.operand(n, i))) ir::for_each_destination(f_, n, i, mark_varying_too);
      if (ir::selects_region(code) && varies(f_.operand(n, 0)))
        for (value_id const v : f_.results_of(n)) mark_varying_too(v);
    } else if (any_operand_varies(n)) {
      for (value_id const v : f_.results_of(n)) mark_varying_too(v);
    }
    return changed;
  }
  bool mark(region_id r) {
    bool any = false;
    for (node_id const n : f_.nodes_of(r)) {
      bool in_lanes = f_[n].code != op::length && any_operand_varies(n);
      for (value_id const v : f_.results_of(n)) in_lanes = in_lanes || varies(v);
      for (region_id const inner : f_.regions_of(n)) in_lanes = mark(inner) || in_lanes;
      if (f_[n].code == op::add_to && is_outside(f_.operand(n, 0))) in_lanes = true;
      in_lanes_[index_of(n)] = in_lanes;
      any = any || in_lanes;
    }
    return any;
  }

  // ---- what can be vectorised

  bool region_fits(region_id r, bool is_masked) const {
    for (value_id const v : f_.arguments_of(r))
      if (f_.type_of(v).is_function()) return false;
    for (node_id const n : f_.nodes_of(r))
      if (!node_fits(n, is_masked)) return false;
    return true;
  }
  bool regions_fit(node_id n, bool is_masked) const {
    for (region_id const r : f_.regions_of(n))
      if (!region_fits(r, is_masked)) return false;
    return true;
  }
  // Whether an index varies, from the first operand after the array to before `end`.
  bool any_index_varies(node_id n, std::uint32_t end) const {
    for (std::uint32_t i = 1; i < end; ++i)
      if (varies(f_.operand(n, i))) return true;
    return false;
  }
  bool node_fits(node_id n, bool is_masked) const {
    op const c = f_[n].code;
    for (value_id const v : f_.results_of(n))
      if (f_.type_of(v).element == ir::scalar::function) return false;
    std::uint32_t const operands = f_[n].operand_count;
    if (ir::is_elementwise(c)) {
      ir::type const t = f_.type_of(f_.result(n));
      if (c == op::select && t.rank > 0) return !is_masked && !is_in_lanes(n);
      return !is_masked || !((c == op::div || c == op::rem) && t == ir::i64);
    }
    // All lanes run both branches of a divergent `if_`: a masked region has only cheap operations that cannot fail, and `add_to`, which
    // skips inactive lanes.
    if (is_masked && c != op::convert && c != op::if_ && c != op::yield && c != op::add_to) return false;
    switch (c) {
    case op::call:
    case op::closure:
    case op::apply:
    case op::reabstract:
    case op::host:
    case op::sample:
    case op::protect:
      return false;
    case op::add_to:
      return add_to_fits(n, is_masked);
    case op::if_: {
      bool const masks = varies(f_.operand(n, 0));
      if (is_masked || masks)
        for (value_id const v : f_.results_of(n))
          if (f_.type_of(v).rank > 0) return false;
      return regions_fit(n, is_masked || masks);
    }
    default:
      break;
    }
    if (!is_in_lanes(n)) return regions_fit(n, is_masked);
    if (ir::is_counted(c)) return !varies(f_.operand(n, 0)) && regions_fit(n, false);
    switch (c) {
    case op::at:
      return !(
          varies(f_.operand(n, 0)) && any_index_varies(n, operands) && f_.type_of(f_.result(n)).rank > 0);
    case op::slice:
      return !any_index_varies(n, operands);
    case op::update:
      return !any_index_varies(n, operands - 1) || f_.type_of(f_.operand(n, operands - 1)).rank == 0;
    case op::fill:
      return !varies(f_.operand(n, 0));
    case op::iota:
      return false;
    case op::gather:
      return !varies(f_.operand(n, 1));
    case op::while_:
      for (std::uint32_t k = operands; k < f_[n].result_count; ++k)
        if (varies(f_.result(n, k))) return false;
      return !varies(yielded(f_.region_at(n, 0), 0)) && regions_fit(n, false);
    case op::reduce:
      return f_[n].attributes.operation != op::none && f_.type_of(f_.result(n)) != ir::boolean;
    case op::accumulate:
      return regions_fit(n, false);
    case op::array:
    case op::length:
    case op::concat:
    case op::copy:
    case op::convert:
    case op::assert_:
    case op::yield:
      return true;
    default:
      return false;
    }
  }
  // Whether an operation is nested in a divergent branch.
  bool is_in_some_lanes(node_id n) const {
    for (auto const& [region, owner] : ir::enclosing_regions(f_, n)) {
      if (region == body_) break;
      if (f_[owner].code == op::if_ && varies(f_.operand(owner, 0))) return true;
    }
    return false;
  }

  // ---- accumulators that the lanes share

  void look_for_adds(region_id r) {
    for (node_id const n : f_.nodes_of(r)) {
      for (region_id const inner : f_.regions_of(n)) look_for_adds(inner);
      value_id const acc = f_[n].code == op::add_to ? f_.operand(n, 0) : value_id(ir::nothing);
      if (acc == ir::nothing || !is_outside(acc)) continue;
      auto found = std::find_if(adds_.begin(), adds_.end(), [&](adding_to const& a) { return a.acc == acc; });
      if (found == adds_.end()) found = adds_.insert(found, {.acc = acc});
      ++found->count;
      found->last = n;
      found->index_varies = found->index_varies || any_index_varies(n, ir::index_count(f_, n) + 1);
      found->own_elements = found->own_elements && f_[n].operand_count > 2 && f_.operand(n, 1) == index();
    }
    if (r != body_) return;
    for (adding_to& a : adds_) a.how = how_to_add(a);
    // A block with deferred additions may restart, or run again element by element, which would perform additions at once twice: if one
    // accumulator defers them, all do.
    if (std::any_of(adds_.begin(), adds_.end(), [](adding_to const& a) { return a.how != adds::at_once; }))
      for (adding_to& a : adds_) a.how = when_it_ends(a);
  }
  static adds when_it_ends(adding_to const& a) { return a.index_varies ? adds::by_lane : adds::by_cell; }
  // The order of floating-point additions matters: each number of the accumulator must receive its additions in the order of the
  // iterations. An operation that adds at once adds for all lanes before the next one does. That keeps the order if lanes add to different
  // numbers, by the body's index as first index; if one operation makes all additions, and the index of each enclosing loop is an index of
  // it; and if the numbers are integers.
  adds how_to_add(adding_to const& a) const {
    if (f_.type_of(a.acc).element == ir::scalar::i64 || a.own_elements) return adds::at_once;
    if (a.count == 1) {
      bool in_loop = false, indexed = true;
      for (auto const& [r, owner] : ir::enclosing_regions(f_, a.last)) {
        if (r == body_) break;
        op const c = f_[owner].code;
        if (!ir::repeats_regions(c)) continue;
        in_loop = true;
        bool is_index = false;
        for (std::uint32_t i = 1; i + 1 < f_[a.last].operand_count; ++i)
          is_index = is_index || (ir::is_counted(c) && f_.operand(a.last, i) == f_.argument(r, 0));
        indexed = indexed && is_index;
      }
      if (indexed && (a.index_varies || !in_loop)) return adds::at_once;
    }
    return when_it_ends(a);
  }
  // A varying accumulator of the body has a copy for each lane, which receives its additions in order. Arrays are not added under a mask,
  // nor at a varying index of such an accumulator.
  bool add_to_fits(node_id n, bool is_masked) const {
    value_id const acc = f_.operand(n, 0);
    std::uint32_t const value = ir::index_count(f_, n) + 1;
    bool const is_part = f_.type_of(f_.operand(n, value)).rank > 0;
    if (is_part && is_masked) return false;
    return is_outside(acc) || !(varies(acc) && any_index_varies(n, value) && is_part);
  }
  ir::function const& f_;
  region_id body_;
  std::vector<bool> varies_;    // for each value
  std::vector<bool> strided_;   // for each value
  std::vector<bool> in_lanes_;  // for each operation
  std::vector<adding_to> adds_; // accumulators that the lanes share
  bool fits_ = false;
};

} // namespace overdub::execute
