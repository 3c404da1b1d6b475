// A part of a function that stands a second time where its adjoint is written: the adjoint uses what is computed there. When the
// adjoint is complete, what is cheaper to keep comes from the first one.
#pragma once

#include <overdub/contexts/reverse/captures.hpp>
#include <overdub/contexts/reverse/cotangents.hpp>
#include <overdub/contexts/reverse/known_functions.hpp>
#include <overdub/contexts/reverse/residuals.hpp>
#include <overdub/ir/sine_and_cosine.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::contexts::adjoint {

/// What cursor::clone asks, and keeps what is known of the copies up to date.
class copies {
public:
  explicit copies(activity& known) : activity_(known) {}

  auto find(value_id v) const { return map_.find(v); }
  auto end() const { return map_.end(); }
  void insert_or_assign(value_id v, value_id copy) {
    map_.insert_or_assign(v, copy);
    activity_.set(copy, activity_.of(v));
  }
  /// A value that is known already stands for another one.
  void stand_in(value_id v, value_id known) { map_.insert_or_assign(v, known); }
  value_id of(value_id v) const {
    auto const at = map_.find(v);
    return at == map_.end() ? v : at->second;
  }

private:
  activity& activity_;
  value_map<value_id> map_;
};

/// An array that a loop carries, and that its adjoint carries the other way round.
struct restored_array {
  std::uint32_t carried;
  value_id newest;           // in the adjoint: what the iteration gave
  bool is_asked_for = false; // whether or not the adjoint reads it
  bool is_restored = false, is_refused = false;
};

/// The copy of a region of an operation: it stands behind `before` in a region of the adjoint, up to `end`, which is the copy of
/// the region's yield, and is erased at last.
class replica {
public:
  replica(region_id of, region_id in, node_id before, node_id end)
      : of_(of), in_(in), before_(before), end_(end) {}

  region_id of() const { return of_; }
  region_id in() const { return in_; }
  node_id end() const { return end_; }
  /// What stands for the index of the region, if it has one.
  value_id index = ir::nothing;
  /// What stands for the values that the region of a loop carries: they can be kept, and not computed.
  std::vector<value_id> arguments;
  /// The first of the operations, the last in the copy, that only the adjoint needs, and that are made of what the copy computes
  /// alone: the forward computation may do them, too.
  node_id factors = ir::nothing;
  /// What is kept with another length in each iteration, perhaps.
  std::vector<value_id> ragged;
  /// The arrays that a loop carries and that the adjoint may restore.
  std::vector<restored_array> restored;
  /// Versions of arrays that the adjoint restores by undoing updates: they are neither kept nor used to compute others again. Some may come
  /// from outside of the copy.
  std::vector<value_id> versions;
  /// Those of them that are restored outside of the adjoint, behind it.
  std::vector<value_id> older;
  /// What restores a version.
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

/// What is cheaper to keep of a replica than to compute again.
class residuals {
public:
  /// `versions` are values of the replica that can not be kept, and that the adjoint does not need.
  /// O(operations inside, and the flow between those of the replica itself).
  residuals(
      function const& f, known_functions const& callees, replica const& r, bool is_stacked, bool appends,
      std::vector<value_id> const& versions)
      : f_(f), callees_(callees), shapes_(f, callees, r.in(), r.arguments, r.end()), is_stacked_(is_stacked),
        appends_(appends) {
    for (value_id const v : versions) versions_.insert_or_assign(v, true);
    int loops = 0;
    for (node_id n = f[r.in()].parent; n != ir::nothing; n = f[f[n].parent].parent)
      if (f[n].code == op::loop || f[n].code == op::map) ++loops;
    for (int i = 1; i < loops; ++i) cost_of_one_ *= dearer_by_loop;
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
      if (choice.keeps[i]) kept_.push_back(values_[i]);
  }

  bool is_possible() const { return is_possible_; }
  std::vector<value_id> const& kept() const { return kept_; }
  /// Whether something that is carried, and kept, has another shape in the first turn, perhaps, and what it becomes has one.
  bool is_shifted(value_id kept) const {
    return std::find(shifted_.begin(), shifted_.end(), kept) != shifted_.end();
  }
  /// Whether an array of numbers is kept whose length may be another one in each iteration: the elements of all iterations are
  /// kept one behind the other.
  bool is_ragged(value_id kept) const {
    return appends_ && f_.type_of(kept).rank == 1 && is_data(kept) && !has_one_shape(kept) &&
           !is_shifted(kept);
  }
  /// Whether something is kept whose shape may be another one in each iteration, and would throw size_error then.
  bool is_doubtful() const {
    return std::any_of(kept_.begin(), kept_.end(), [&](value_id v) {
      return is_data(v) && !has_one_shape(v) && !is_shifted(v) && !is_ragged(v);
    });
  }

private:
  // In additions, as the table of operations has costs: a number is written, and read. Of loops inside of loops more numbers are
  // kept, and memory that is further away.
  static constexpr double cost_of_keeping = 4, dearer_by_loop = 2;
  // An array whose shape is not known to stay can be kept all the same: where it does not, the loop throws size_error.
  static constexpr double dearer_by_doubt = 10'000;
  static constexpr double dearer_if_ragged = 2; // its elements are copied to the end of the others, and back
  static constexpr double turns = 10;           // that a loop is thought to run
  static constexpr double dearer_factor = 0.25; // what the forward computation has anyhow is kept before

  // `next`: what it becomes in the next turn, which may be kept instead of it.
  void add(value_id v, std::uint32_t maker, value_id next = ir::nothing) {
    number_.emplace(v, static_cast<std::uint32_t>(values_.size()));
    values_.push_back(v);
    residual_problem::value kept{.made_by = maker, .cost_of_keeping = keeping(v)};
    if (next != ir::nothing && is_data(v) && !has_one_shape(v) && shapes_.has(next)) {
      kept.cost_of_keeping = cost_of(v);
      shifted_.push_back(v);
    }
    if (versions_.contains(v)) kept.cost_of_keeping = residual_problem::never;
    problem_.values.push_back(kept);
  }
  void add(node_id n, bool is_factor) {
    auto const number = static_cast<std::uint32_t>(problem_.operations.size());
    // What others see, or what may be different a second time, is not done again.
    residual_problem::operation o;
    o.cost =
        callees_.effects().of(f_, n).can_merge() && !reads_version(n) ? cost(n) : residual_problem::never;
    // Forwards or backwards, it is done once; a sine costs nothing where there is a cosine.
    if (is_factor && ir::other_of_sine_and_cosine(f_, n) == ir::nothing) o.cost = 0;
    each_use(n, [&](std::uint32_t v) { o.takes.push_back(v); });
    problem_.operations.push_back(std::move(o));
    for (value_id const v : f_.results_of(n)) {
      add(v, number);
      if (is_factor) problem_.values.back().cost_of_keeping += dearer_factor;
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

  // Whether an operation reads what is not there when others are computed again: the adjoint restores it later.
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
  bool has_one_shape(value_id v) const { return !is_stacked_ || shapes_.has(v); }
  bool is_data(value_id v) const {
    ir::type const t = f_.type_of(v);
    return t.is_literal() || (t.is_array() && ir::type{t.element}.is_literal());
  }
  double keeping(value_id v) const {
    if (f_.type_of(v).is_function() && !is_stacked_) return cost_of_one_; // there are no arrays of them
    if (!is_data(v)) return residual_problem::never;
    if (has_one_shape(v)) return cost_of(v);
    return cost_of(v) * (appends_ && f_.type_of(v).rank == 1 ? dearer_if_ragged : dearer_by_doubt);
  }
  double cost_of(value_id v) const {
    double cost = cost_of_one_;
    for (int i = 0; i < f_.type_of(v).rank; ++i) cost *= turns;
    return cost;
  }
  double cost(node_id n) const {
    double all = ir::row_of(f_[n].code).cost;
    if (f_[n].code == op::div && f_.type_of(f_.result(n)) == ir::i64 && f_.is_literal(f_.operand(n, 1)))
      all = 2;
    if (f_[n].code == op::call) all += callees_.cost_of_calling(f_[n].attributes.callee());
    double const times = f_[n].code == op::if_ || f_[n].code == op::accumulate ? 1 : turns;
    for (region_id const r : f_.regions_of(n))
      for (node_id const m : f_.nodes_of(r)) all += times * cost(m);
    return all;
  }

  function const& f_;
  known_functions const& callees_;
  fixed_shapes shapes_;
  bool is_stacked_;
  bool appends_; // what is kept may be ragged
  value_map<bool> versions_;
  double cost_of_one_ = cost_of_keeping;
  bool is_possible_ = true;
  residual_problem problem_;
  std::vector<value_id> values_;
  value_map<std::uint32_t> number_;
  std::vector<value_id> kept_, shifted_;
};

} // namespace overdub::contexts::adjoint
