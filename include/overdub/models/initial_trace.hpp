// initial_trace: the trace at which a chain begins.
#pragma once

#include <overdub/core/function_view.hpp>
#include <overdub/models/choosing.hpp>
#include <overdub/models/generative_function.hpp>
#include <overdub/models/operations.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace overdub::models {
namespace detail {

// Calls f(key), which makes a trace and returns why no chain can begin at it, or an empty text where one can. Throws model_error after 100
// traces, with the reason of the last one; an unmade_error is a reason.
void until_proper(
    std::string const& model, random_key const& key,
    overdub::detail::function_view<std::string(random_key const&)> const& f);
// The reason: an observed choice that is not made, or a choice whose log density is not finite.
std::string why_improper(trace const& t, choice_map const& observed);
std::string why_improper(choice_record const& made);
template <model_trace Trace>
std::string why_improper(Trace const& t, choice_map const&) {
  return why_improper(t.made());
}

} // namespace detail

/// An observed choice that the trace does not make; nothing, where it makes all. O(observations of conditional sites).
std::optional<address> unmade_choice(trace const& t, choice_map const& observed);

/// Generates traces of the observations until one has a finite log density. After 100 that have none, or do not make an observed choice, it
/// throws model_error with the reason of the last one.
template <generative_function Model>
typename Model::trace_type initial_trace(Model const& m, choice_map const& observed, random_key const& key) {
  std::optional<typename Model::trace_type> t;
  detail::until_proper(m.name(), key, [&](random_key const& k) {
    t.emplace(m.generate(observed, k).of);
    return detail::why_improper(*t, observed);
  });
  return *std::move(t);
}
/// The same for types that are known at run time.
trace initial_trace(
    shared_core const& m, std::vector<datum> const& arguments, choice_map const& observed,
    random_key const& key);

} // namespace overdub::models
