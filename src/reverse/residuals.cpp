#include <overdub/implementation/ir/sine_and_cosine.hpp>
#include <overdub/implementation/reverse/residuals.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace overdub::adjoint {
namespace {

// Costs in additions, as in the table of operations. A saved number is written and read. Each enclosing loop adds to the
// memory footprint, and so to the cost of an access.
constexpr double cost_of_saving = 4, penalty_of_nesting = 2;
// An array whose shape is not known to be loop-invariant can be saved as a last resort: the loop throws size_error where
// the shape differs.
constexpr double penalty_of_unknown_shape = 10'000;
constexpr double penalty_of_ragged = 2;       // copied to and from the concatenation of all iterations
constexpr double preference_of_factor = 0.25; // prefer values that the forward pass computes anyway

std::vector<ir::shapes::carried> states_of(function const& f, primal_copy const& r) {
  std::vector<ir::shapes::carried> all;
  for (std::uint32_t i = 0; i < r.arguments.size(); ++i)
    all.push_back({r.arguments[i], f.operand(r.end(), i)});
  return all;
}

} // namespace

residuals::residuals(
    function const& f, callee_properties const& callees, primal_copy const& r, bool is_stacked, bool appends,
    std::vector<value_id> const& versions)
    : f_(f), callees_(callees), region_(r.in()),
      shapes_(f, callees.shapes(), r.in(), r.end(), states_of(f, r)), is_stacked_(is_stacked),
      appends_(appends), cost_of_one_(cost_of_saving) {
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

bool residuals::is_shifted(value_id saved) const {
  return std::find(shifted_.begin(), shifted_.end(), saved) != shifted_.end();
}

bool residuals::is_ragged(value_id saved) const {
  return appends_ && f_.type_of(saved).rank == 1 && is_data(saved) && !has_one_shape(saved) &&
         !is_shifted(saved);
}

bool residuals::may_throw_size_error() const {
  return std::any_of(saved_.begin(), saved_.end(), [&](value_id v) {
    return is_data(v) && !has_one_shape(v) && !is_shifted(v) && !is_ragged(v);
  });
}

// `next`: the next state of a loop-carried value, which may be saved instead.
void residuals::add(value_id v, std::uint32_t maker, value_id next) {
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

void residuals::add(node_id n, bool is_factor) {
  auto const number = static_cast<std::uint32_t>(problem_.operations.size());
  // An operation with side effects, or one that may return something else, is not recomputed.
  residual_problem::operation o;
  o.cost = callees_.effects().of(f_, n).can_merge() && !reads_version(n) ? callees_.costs().of(f_, n)
                                                                         : residual_problem::never;
  // A factor is computed once, in either pass, so that its recomputation is free. A sine is free if the cosine is computed.
  if (is_factor && ir::other_of_sine_and_cosine(f_, n) == ir::nothing) o.cost = 0;
  each_use(n, [&](std::uint32_t v) { o.takes.push_back(v); });
  problem_.operations.push_back(std::move(o));
  for (value_id const v : f_.results_of(n)) {
    add(v, number);
    if (is_factor) problem_.values.back().cost_of_saving += preference_of_factor;
  }
}

void residuals::need(node_id n) {
  each_use(n, [&](std::uint32_t v) {
    if (!versions_.contains(values_[v])) problem_.values[v].is_needed = true;
  });
}

template <class Visit>
void residuals::each_use(node_id n, Visit const& visit) const {
  auto const of = [&](node_id m) {
    for (value_id const v : f_.operands_of(m))
      if (auto const at = number_.find(v); at != number_.end()) visit(at->second);
  };
  of(n);
  for (region_id const r : f_.regions_of(n)) ir::walk(f_, r, of);
}

// Whether an operation reads a version, which is restored only after the recomputation.
bool residuals::reads_version(node_id n) const {
  if (versions_.empty()) return false;
  bool does = false;
  auto const of = [&](node_id m) {
    for (value_id const v : f_.operands_of(m)) does = does || versions_.contains(v);
  };
  of(n);
  for (region_id const r : f_.regions_of(n)) ir::walk(f_, r, of);
  return does;
}

bool residuals::is_data(value_id v) const {
  ir::type const t = f_.type_of(v);
  return t.is_literal() || (t.is_array() && ir::type{t.element}.is_literal());
}

double residuals::saving_cost(value_id v) const {
  if (f_.type_of(v).is_function() && !is_stacked_) return cost_of_one_; // there are no arrays of functions
  if (!is_data(v)) return residual_problem::never;
  if (has_one_shape(v)) return cost_of(v);
  return cost_of(v) * (appends_ && f_.type_of(v).rank == 1 ? penalty_of_ragged : penalty_of_unknown_shape);
}

double residuals::cost_of(value_id v) const {
  double cost = cost_of_one_;
  for (int i = 0; i < f_.type_of(v).rank; ++i) cost *= pass::costs::assumed_trip_count;
  return cost;
}

} // namespace overdub::adjoint
