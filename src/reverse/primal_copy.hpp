// A copy of primal code in the backward pass (rematerialised code). When the adjoint is complete, those of its values that
// are cheaper to save than to recompute become residuals of the original.
#pragma once

#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/implementation/ir/sine_and_cosine.hpp>
#include <overdub/implementation/reverse/callee_properties.hpp>
#include <overdub/implementation/reverse/captures.hpp>
#include <overdub/implementation/reverse/cotangents.hpp>
#include <overdub/implementation/reverse/residuals.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::adjoint {

/// The map of cursor::clone, which also copies activity.
class clone_map {
public:
  explicit clone_map(activity& known) : activity_(known) {}

  auto find(value_id v) const { return map_.find(v); }
  auto end() const { return map_.end(); }
  void insert_or_assign(value_id v, value_id copy) {
    map_.insert_or_assign(v, copy);
    activity_.set(copy, activity_.of(v));
  }
  /// Maps a value to another one whose activity is already known.
  void stand_in(value_id v, value_id known) { map_.insert_or_assign(v, known); }
  value_id of(value_id v) const {
    auto const at = map_.find(v);
    return at == map_.end() ? v : at->second;
  }

private:
  activity& activity_;
  value_map<value_id> map_;
};

/// A loop-carried array that the adjoint loop carries backwards.
struct restored_array {
  std::uint32_t carried;
  value_id newest;      // in the adjoint: the array at the end of the iteration
  bool is_read = false; // whether the adjoint reads it
  bool is_restored = false, is_refused = false;
};

/// The copy of a region in a region of the adjoint, between the operations `before` and `end`. `end` is the copy of the region's
/// yield, and is erased when the adjoint is complete.
class primal_copy {
public:
  primal_copy(region_id of, region_id in, node_id before, node_id end)
      : of_(of), in_(in), before_(before), end_(end) {}

  region_id of() const { return of_; }
  region_id in() const { return in_; }
  node_id end() const { return end_; }
  /// The value that replaces the region's index argument, if it has one.
  value_id index = ir::nothing;
  /// The values that replace the loop-carried values of the region. They can be saved, but not recomputed.
  std::vector<value_id> arguments;
  /// The first of the trailing operations that only the adjoint needs, computed from values of the copy alone: the forward
  /// pass may compute them, too.
  node_id factors = ir::nothing;
  /// Residuals whose length may differ between iterations.
  std::vector<value_id> ragged;
  /// The loop-carried arrays that the adjoint may restore.
  std::vector<restored_array> restored;
  /// Versions of arrays that the adjoint restores by undoing updates: they are neither saved nor used to recompute others.
  /// Some may be defined outside of the copy.
  std::vector<value_id> versions;
  /// Those versions that are restored after the adjoint, outside of it.
  std::vector<value_id> older;
  /// The restored value of each version.
  std::vector<std::pair<value_id, value_id>> restored_by;

  std::vector<node_id> nodes(function const& f) const {
    std::vector<node_id> all;
    for (node_id n = first(f); n != end_; n = f[n].next) all.push_back(n);
    return all;
  }
  node_id first(function const& f) const { return before_ == ir::nothing ? f[in_].first : f[before_].next; }

private:
  region_id of_, in_;
  node_id before_, end_;
};

/// The values of a primal copy that are cheaper to save than to recompute.
class residuals {
public:
  /// `versions` are values of the copy that cannot be saved, and that the adjoint does not need. O(operations inside, and
  /// the flow between those of the copy itself).
  residuals(
      function const& f, callee_properties const& callees, primal_copy const& r, bool is_stacked,
      bool appends, std::vector<value_id> const& versions)
      : f_(f), callees_(callees), region_(r.in()),
        shapes_(f, callees.shapes(), r.in(), r.end(), states_of(f, r)), is_stacked_(is_stacked),
        appends_(appends) {
    for (value_id const v : versions) versions_.insert_or_assign(v, true);
    int loops = 0;
    for (node_id n = f[r.in()].parent; n != ir::nothing; n = ir::owner_of(f, n))
      if (ir::is_counted(f[n].code)) ++loops;
    for (int i = 1; i < loops; ++i) cost_of_one_ *= penalty_of_nesting;
    for (std::uint32_t i = 0; i < r.arguments.size(); ++i)
      add(r.arguments[i], residual_problem::none, f.operand(r.end(), i));
    bool is_factor = false;
    for (node_id const n : r.nodes(f)) {
      is_factor = is_factor || n == r.factors;
      add(n, is_factor);
    }
    for (node_id n = f[r.end()].next; n != ir::nothing; n = f[n].next) need(n);
    residual_choice const choice = choose_residuals(problem_);
    is_possible_ = choice.cost < residual_problem::never;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (choice.saves[i]) saved_.push_back(values_[i]);
  }

  bool is_possible() const { return is_possible_; }
  std::vector<value_id> const& saved() const { return saved_; }
  /// Whether a saved loop-carried value may have another shape in the first iteration, while its next states have one
  /// shape.
  bool is_shifted(value_id saved) const {
    return std::find(shifted_.begin(), shifted_.end(), saved) != shifted_.end();
  }
  /// Whether a saved array of numbers may differ in length between iterations: the elements of all iterations are
  /// concatenated.
  bool is_ragged(value_id saved) const {
    return appends_ && f_.type_of(saved).rank == 1 && is_data(saved) && !has_one_shape(saved) &&
           !is_shifted(saved);
  }
  /// Whether a saved array may differ in shape between iterations, so that saving it may throw size_error.
  bool may_throw_size_error() const {
    return std::any_of(saved_.begin(), saved_.end(), [&](value_id v) {
      return is_data(v) && !has_one_shape(v) && !is_shifted(v) && !is_ragged(v);
    });
  }

private:
  // Costs in additions, as in the table of operations. A saved number is written and read. Each enclosing loop adds to the
  // memory footprint, and so to the cost of an access.
  static constexpr double cost_of_saving = 4, penalty_of_nesting = 2;
  // An array whose shape is not known to be loop-invariant can be saved as a last resort: the loop throws size_error where
  // the shape differs.
  static constexpr double penalty_of_unknown_shape = 10'000;
  static constexpr double penalty_of_ragged = 2;   // copied to and from the concatenation of all iterations
  static constexpr double assumed_trip_count = 10; // an assumed trip count
  static constexpr double preference_of_factor = 0.25; // prefer values that the forward pass computes anyway

  static std::vector<ir::shapes::carried> states_of(function const& f, primal_copy const& r) {
    std::vector<ir::shapes::carried> all;
    for (std::uint32_t i = 0; i < r.arguments.size(); ++i)
      all.push_back({r.arguments[i], f.operand(r.end(), i)});
    return all;
  }
  // `next`: the next state of a loop-carried value, which may be saved instead.
  void add(value_id v, std::uint32_t maker, value_id next = ir::nothing) {
    number_.emplace(v, static_cast<std::uint32_t>(values_.size()));
    values_.push_back(v);
    residual_problem::value saved{.made_by = maker, .cost_of_saving = saving_cost(v)};
    if (next != ir::nothing && is_data(v) && !has_one_shape(v) && shapes_.is_invariant(next, region_)) {
      saved.cost_of_saving = cost_of(v);
      shifted_.push_back(v);
    }
    if (versions_.contains(v)) saved.cost_of_saving = residual_problem::never;
    problem_.values.push_back(saved);
  }
  void add(node_id n, bool is_factor) {
    auto const number = static_cast<std::uint32_t>(problem_.operations.size());
    // An operation with side effects, or one that may return something else, is not recomputed.
    residual_problem::operation o;
    o.cost =
        callees_.effects().of(f_, n).can_merge() && !reads_version(n) ? cost(n) : residual_problem::never;
    // A factor is computed once, in either pass, so that its recomputation is free. A sine is free if the cosine is computed.
    if (is_factor && ir::other_of_sine_and_cosine(f_, n) == ir::nothing) o.cost = 0;
    each_use(n, [&](std::uint32_t v) { o.takes.push_back(v); });
    problem_.operations.push_back(std::move(o));
    for (value_id const v : f_.results_of(n)) {
      add(v, number);
      if (is_factor) problem_.values.back().cost_of_saving += preference_of_factor;
    }
  }
  void need(node_id n) {
    each_use(n, [&](std::uint32_t v) {
      if (!versions_.contains(values_[v])) problem_.values[v].is_needed = true;
    });
  }
  template <class Visit>
  void each_use(node_id n, Visit const& visit) {
    auto const of = [&](node_id m) {
      for (value_id const v : f_.operands_of(m))
        if (auto const at = number_.find(v); at != number_.end()) visit(at->second);
    };
    of(n);
    for (region_id const r : f_.regions_of(n)) ir::walk(f_, r, of);
  }

  // Whether an operation reads a version, which is restored only after the recomputation.
  bool reads_version(node_id n) const {
    if (versions_.empty()) return false;
    bool does = false;
    auto const of = [&](node_id m) {
      for (value_id const v : f_.operands_of(m)) does = does || versions_.contains(v);
    };
    of(n);
    for (region_id const r : f_.regions_of(n)) ir::walk(f_, r, of);
    return does;
  }
  bool has_one_shape(value_id v) const { return !is_stacked_ || shapes_.is_invariant(v, region_); }
  bool is_data(value_id v) const {
    ir::type const t = f_.type_of(v);
    return t.is_literal() || (t.is_array() && ir::type{t.element}.is_literal());
  }
  double saving_cost(value_id v) const {
    if (f_.type_of(v).is_function() && !is_stacked_) return cost_of_one_; // there are no arrays of functions
    if (!is_data(v)) return residual_problem::never;
    if (has_one_shape(v)) return cost_of(v);
    return cost_of(v) * (appends_ && f_.type_of(v).rank == 1 ? penalty_of_ragged : penalty_of_unknown_shape);
  }
  double cost_of(value_id v) const {
    double cost = cost_of_one_;
    for (int i = 0; i < f_.type_of(v).rank; ++i) cost *= assumed_trip_count;
    return cost;
  }
  double cost(node_id n) const {
    double all = ir::row_of(f_[n].code).cost;
    if (f_[n].code == op::div && f_.type_of(f_.result(n)) == ir::i64 && f_.is_literal(f_.operand(n, 1)))
      all = 2;
    if (f_[n].code == op::call) all += callees_.cost_of_calling(f_[n].attributes.callee());
    bool const runs_once = ir::selects_region(f_[n].code) || ir::has_accumulators(f_[n].code);
    double const times = runs_once ? 1 : assumed_trip_count;
    for (region_id const r : f_.regions_of(n))
      for (node_id const m : f_.nodes_of(r)) all += times * cost(m);
    return all;
  }

  function const& f_;
  callee_properties const& callees_;
  region_id region_;
  ir::shapes shapes_;
  bool is_stacked_;
  bool appends_; // residuals may be ragged
  value_map<bool> versions_;
  double cost_of_one_ = cost_of_saving;
  bool is_possible_ = true;
  residual_problem problem_;
  std::vector<value_id> values_;
  value_map<std::uint32_t> number_;
  std::vector<value_id> saved_, shifted_;
};

} // namespace overdub::adjoint
