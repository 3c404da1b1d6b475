// involutive_move: a Metropolis-Hastings step whose proposal is an involution on the choices of the model and of an auxiliary model, as
// reversible jumps are (Green, Reversible jump Markov chain Monte Carlo computation and Bayesian model determination, 1995).
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/models/choice_transform.hpp>
#include <overdub/models/metropolis_hastings.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace overdub::models {

/// Whether the function is applied to its own result, to check that it is an involution. This runs the model once more.
struct involution_check {
  bool is_checked = false;
  double tolerance = 1e-6; ///< relative, or absolute below 1
};

namespace detail {

// Throws model_error where an update drew a choice: the transform must write all new choices.
template <model_trace Trace>
void reject_drawn(
    Trace const& before, Trace const& next, choice_map const& written, choice_map const& discard) {
  auto const reject = [](address const& at) {
    throw model_error(message(
        "overdub: the model makes the choice %.80s, which the transform does not write",
        text_of(at).c_str()));
  };
  std::size_t stayed = before.size(), made = 0;
  for (auto const& [at, x] : discard)
    if (!next.find_one(at))
      --stayed;
    else if (!written.contains(at))
      reject(at); // its type is another one now
  for (auto const& [at, x] : written) made += !before.find_one(at);
  if (next.size() == stayed + made) return;
  next.for_each_choice([&](address const& at, datum const&) {
    if (!before.find_one(at) && !written.contains(at)) reject(at);
  });
}

} // namespace detail

/// A step from a trace of the model. The choices of the model `auxiliary_of(t)` are drawn; `involution(x)` reads them and the trace's
/// choices, and writes choices of the new trace and all auxiliary choices of the reverse move. Choices of the model that it does not write
/// are unchanged. It is its own inverse. The acceptance ratio is that of Metropolis and Hastings, with the Jacobian determinant of the
/// continuous choices that are written by those that are read and changed. A step to a density of 0 or NaN is rejected. Throws model_error
/// where the function writes an observed choice; loses a continuous choice; writes another number of coordinates than it reads; where the
/// model makes a choice that is neither written nor in the old trace; and, if that is checked, where the function is no involution. Runs
/// the model once, the auxiliary model twice, and the function once for each eight coordinates. Accepts traces of `model` and of
/// `dynamic_model`.
template <generative_function Model, class Auxiliary, class F>
metropolis_step<typename Model::trace_type> involutive_move(
    Model const& m, typename Model::trace_type const& t, Auxiliary const& auxiliary_of, F const& involution,
    choice_map const& observed, random_key const& key, involution_check const& check = {}) {
  using detail::auxiliary_side, detail::model_side;
  check_observed(t, observed);
  auto const auxiliary = auxiliary_of(t).simulate(key.at("proposal"));
  detail::transformed const forward(involution, t, auxiliary);
  forward.reject_unused_auxiliary(auxiliary);
  forward.reject_observed(observed);
  auto next = m.update(t, forward.model(), key.at("update"));
  detail::reject_drawn(t, next.of, forward.model(), next.discard);
  for (auto const& [at, x] : next.discard) {
    if (observed.contains(at))
      throw model_error(message(
          "overdub: the choice %.80s is observed, and the transform leads where the model does not make it",
          text_of(at).c_str()));
    forward.reject_unused({model_side, at}, x);
  }
  auto const is_lost = [](auto const& discard) {
    return [&](address const& at) { return discard.contains(at); };
  };
  if (!overdub::is_finite(next.weight) && !(next.weight > 0)) return {t, false, next.weight};
  double const determinant = forward.log_determinant(is_lost(next.discard));
  double weight = next.weight + determinant - auxiliary.score();
  auto const reverse = auxiliary_of(next.of).assess(forward.auxiliary());
  weight += reverse.score();
  if (check.is_checked) {
    detail::transformed const again(involution, next.of, reverse);
    auto const returned = m.update(next.of, again.model(), key.at("update"));
    detail::check_restored(t, returned.of, model_side, check.tolerance);
    detail::check_restored(
        auxiliary, auxiliary_of(returned.of).assess(again.auxiliary()), auxiliary_side, check.tolerance);
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
