// metropolis_hastings: a step whose proposal is a model, staged or dynamic, that draws choices of the new trace by address.
#pragma once

#include <overdub/models/choices.hpp>
#include <overdub/models/error.hpp>
#include <overdub/models/generative_function.hpp>
#include <overdub/models/observed_choices.hpp>
#include <overdub/random.hpp>

#include <cmath>
#include <type_traits>
#include <utility>

namespace overdub::models {

/// The trace after a step: the proposed one, or the old one.
template <class Trace>
struct metropolis_step {
  Trace of;
  bool accepted = false;
  double weight = 0; // the logarithm of the acceptance ratio; if it is NaN, the step is rejected
};

/// A Metropolis-Hastings step from a trace of the model. `proposal_of(t)` is the model that proposes from the trace t. Its choices become
/// those of the new trace at the same addresses; other choices that only the new trace has are drawn from their distributions. The reverse
/// proposal is `proposal_of` of the new trace, which assesses the old choices (Cusumano-Towner and others, PLDI 2019). Throws model_error
/// if the trace does not have the observations, if the proposal makes observed choices or choices that the model does not make, or if the
/// reverse proposal does not make all old choices. Runs the model once, and the proposal twice. The kernels of `mcmc`, in contrast, are
/// evaluated incrementally.
template <generative_function Model, class Proposal>
metropolis_step<typename Model::trace_type> metropolis_hastings(
    Model const& m, typename Model::trace_type const& t, Proposal const& proposal_of,
    choice_map const& observed, random_key const& key) {
  check_observed(t, observed);
  auto const proposed = proposal_of(t).propose(key.at("proposal"));
  for (auto const& [at, x] : proposed.choices)
    if (observed.contains(at))
      throw model_error(message(
          "overdub: the proposal draws the choice %.80s, which is observed; leave it out of the proposal",
          text_of(at).c_str()));
  auto next = m.update(t, proposed.choices, key.at("update"));
  double const weight = next.weight - proposed.weight + proposal_of(next.of).assess(next.discard).score();
  random_generator g(key.at("accept"));
  if (std::log(g.uniform()) < weight) return {std::move(next.of), true, weight};
  return {t, false, weight};
}

} // namespace overdub::models
