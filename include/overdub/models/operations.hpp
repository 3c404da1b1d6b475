// The generative function interface (Cusumano-Towner, Saad, Lew and Mansinghka, Gen: A General-Purpose Probabilistic Programming System
// with Programmable Inference, PLDI 2019), where types are known at run time.
#pragma once

#include <overdub/models/trace.hpp>

#include <memory>
#include <vector>

namespace overdub::models {

using weighted_trace = weighted<trace>;
using updated_trace = updated<trace>;
using shared_core = std::shared_ptr<model_core const>;

/// Draws all choices.
trace simulate(shared_core const& m, std::vector<datum> const& arguments, random_key const& key);
/// Draws all choices without a constraint. The weight is the log density of the constrained ones: an importance weight.
weighted_trace generate(
    shared_core const& m, std::vector<datum> const& arguments, choice_map const& constraints,
    random_key const& key);
/// The trace of these choices. Throws model_error where one is missing.
trace assess(shared_core const& m, std::vector<datum> const& arguments, choice_map const& choices);
/// The trace with changed choices, and with these arguments. Choices that are neither given nor in the old trace are drawn. The weight is
/// log p(new) - log p(old) - log q(drawn).
updated_trace
update(trace const& t, std::vector<datum> const& arguments, choice_map const& changes, random_key const& key);
/// The trace with the selected choices drawn again, each from its distribution. The weight is log p(new) - log p(old) + log q(back) -
/// log q(there), where q are the densities of drawn choices: the logarithm of the Metropolis-Hastings acceptance ratio. Observed choices of
/// the trace are kept, and those that appear are not drawn. Throws unmade_error where an observed choice is not made.
updated_trace regenerate(
    trace const& t, std::vector<datum> const& arguments, selection const& of, choice_map const& observed,
    random_key const& key);
inline updated_trace
regenerate(trace const& t, std::vector<datum> const& arguments, selection const& of, random_key const& key) {
  return regenerate(t, arguments, of, {}, key);
}
/// The derivatives of the score by the selected choices. Throws model_error where one is discrete.
choice_map choice_gradients(trace const& t, selection const& of);
/// The derivatives of the score by the leaves of the trace's arguments: 0 by integers and bools, and an empty array by arrays of them.
/// Choices are constants.
std::vector<datum> argument_gradients(trace const& t);
/// A sentence with the address and the value of a choice whose log density is not finite; empty where there is none.
std::string improper_choice(trace const& t);

[[noreturn, gnu::cold]] void throw_moved_model();

} // namespace overdub::models
