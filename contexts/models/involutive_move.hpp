// involutive_move: a step whose proposal is an involution of the model's choices and auxiliary ones, as jumps between dimensions are
// (Green, Reversible jump Markov chain Monte Carlo computation and Bayesian model determination, 1995).
#pragma once

#include <overdub/contexts/models/choice_transform.hpp>
#include <overdub/contexts/models/metropolis_hastings.hpp>
#include <overdub/core/floating_point.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace overdub::models {

/// Whether a move is tried backwards, too: then a function that is no involution throws. That runs the model once more.
struct involution_check {
  bool is_checked = false;
  double tolerance = 1e-6; ///< relative, or absolute below 1
};

namespace detail {

// Throws model_error for choices that an update drew: a transform decides on all.
template <class Result>
void reject_drawn(
    dynamic_trace<Result> const&, dynamic_trace<Result> const& next, choice_map const&, choice_map const&) {
  for (auto const& [at, choice] : next.made())
    if (choice.is_drawn)
      throw model_error(message(
          "overdub: the model makes the choice %.80s, which the transform does not write",
          text_of(at).c_str()));
}
inline void
reject_drawn(trace const& before, trace const& next, choice_map const& written, choice_map const& discard) {
  std::size_t stayed = before.size(), made = 0;
  for (auto const& each : discard) stayed -= !choice_at(next, each.first);
  for (auto const& each : written) made += !choice_at(before, each.first);
  if (next.size() == stayed + made) return;
  for_each_choice_of(next, [&](address const& at, datum const&) {
    if (!choice_at(before, at) && !written.contains(at))
      throw model_error(message(
          "overdub: the model makes the choice %.80s, which the transform does not write",
          text_of(at).c_str()));
  });
}

} // namespace detail

/// A step from a trace of the model: `auxiliary_of(t)` is a model whose choices are drawn, `involution(x)` reads those and the trace's, and
/// writes choices of the next trace and all auxiliary choices of the reverse move; choices of the model that it does not write are unchanged. It is
/// its own inverse. The weight is that of Metropolis and Hastings, with the logarithm of the determinant of the Jacobian of the continuous
/// choices that are written by those that are read and change. A move to where the density is 0, or no number, is rejected. Observed
/// choices are not to be written. Throws model_error for them; for a continuous choice that is lost; where the numbers that are written
/// are not as many as those that are read; where the model makes a choice that is neither written nor there before; and, where it is
/// checked, for what is no involution. Runs the model once, the auxiliary model twice, and the function once for eight numbers; works on
/// traces of `model` and of `dynamic_model`.
template <class Model, class Trace, class Auxiliary, class F>
metropolis_step<Trace> involutive_move(
    Model const& m, Trace const& t, Auxiliary const& auxiliary_of, F const& involution,
    choice_map const& observed, random_key const& key, involution_check const& check = {}) {
  using detail::of_auxiliary, detail::of_model;
  check_observed(t, observed);
  auto const auxiliary = auxiliary_of(t).simulate(key.at("proposal"));
  detail::transformed const there(involution, t, auxiliary);
  detail::for_each_choice_of(auxiliary, [&](address const& at, datum const& x) {
    there.reject_unused({of_auxiliary, at}, x);
  });
  for (auto const& [at, x] : there.model())
    if (observed.contains(at))
      throw model_error(
          message("overdub: the transform writes the choice %.80s, which is observed", text_of(at).c_str()));
  auto next = m.update(t, there.model(), key.at("update"));
  detail::reject_drawn(t, next.of, there.model(), next.discard);
  for (auto const& [at, x] : next.discard) {
    if (observed.contains(at))
      throw model_error(message(
          "overdub: the choice %.80s is observed, and the transform leads where the model does not make it",
          text_of(at).c_str()));
    there.reject_unused({of_model, at}, x);
  }
  auto const is_lost = [](auto const& discard) {
    return [&](address const& at) { return discard.contains(at); };
  };
  if (!overdub::is_finite(next.weight) && !(next.weight > 0)) return {t, false, next.weight};
  double const determinant = there.log_determinant(is_lost(next.discard));
  double weight = next.weight + determinant - auxiliary.score();
  auto const back = auxiliary_of(next.of).assess(there.auxiliary());
  weight += back.score();
  if (check.is_checked) {
    detail::transformed const again(involution, next.of, back);
    auto const returned = m.update(next.of, again.model(), key.at("update"));
    detail::check_returns(t, returned.of, of_model, check.tolerance);
    detail::check_returns(
        auxiliary, auxiliary_of(returned.of).assess(again.auxiliary()), of_auxiliary, check.tolerance);
    double const sum = determinant + again.log_determinant(is_lost(returned.discard));
    if (overdub::is_finite(determinant) &&
        !(std::abs(sum) <= check.tolerance * std::max(1.0, std::abs(determinant))))
      throw model_error(message(
          "overdub: the determinants of the transform and of its inverse are not reciprocal: their "
          "logarithms "
          "add to %g",
          sum));
  }
  random_generator g(key.at("accept"));
  if (std::log(g.uniform()) < weight) return {std::move(next.of), true, weight};
  return {t, false, weight};
}

} // namespace overdub::models
