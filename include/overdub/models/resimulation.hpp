// resimulation: Metropolis-Hastings for models, staged or dynamic. A proposal draws some choices from their distributions, and keeps the
// others (`regenerate` of Gen).
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/inference/run_chains.hpp>
#include <overdub/models/dynamic.hpp>
#include <overdub/models/initial_trace.hpp>

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::models {
namespace detail {
// Throws model_error for a choice that is an array.
void reject_array(address const& at, datum const& x);
// A choice as a number; NaN where it was not made.
double reported_number(address const& at, datum const& x);
} // namespace detail

/// One chain of a model, staged or dynamic. A transition makes one step for each selection, in order: it proposes the selection's
/// unobserved choices from their distributions, and accepts or rejects the proposal. A selection without unobserved choices is skipped. The
/// class is a transition_kernel.
template <generative_function Model>
class resimulation_chain {
public:
  using trace_type = typename Model::trace_type;

  /// Throws model_error if `start` has an array at a reported address.
  resimulation_chain(
      Model m, trace_type start, choice_map observed, std::vector<selection> moved,
      std::vector<address> reported)
      : model_(std::move(m)), trace_(std::move(start)), observed_(std::move(observed)),
        moved_(std::move(moved)), reported_(std::move(reported)) {
    for (address const& at : reported_) detail::reject_array(at, trace_.find_one(at));
  }

  inference::kernel_statistics transition(random_key const& key) {
    std::size_t proposed = 0, accepted = 0;
    for (std::size_t k = 0; k < moved_.size(); ++k) {
      if (!has_unobserved(moved_[k])) continue;
      ++proposed;
      accepted += step(moved_[k], key.at(k));
    }
    return {
        .log_density = trace_.score(),
        .acceptance = proposed == 0 ? 1 : static_cast<double>(accepted) / static_cast<double>(proposed)};
  }
  void adapt(std::size_t, std::size_t) {}
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (address const& at : reported_) all.push_back(text_of(at));
    return all;
  }
  /// NaN where a choice was not made.
  void report(std::span<double> out) const {
    for (std::size_t k = 0; k < reported_.size(); ++k)
      out[k] = detail::reported_number(reported_[k], trace_.find_one(reported_[k]));
  }
  trace_type const& state() const { return trace_; }
  /// The number of proposals that were rejected because their weight is NaN, because a choice cannot be drawn, or because a kept array has
  /// another size than its distribution.
  std::size_t undefined() const { return undefined_; }

private:
  // Whether the trace has an unobserved choice of the selection.
  bool has_unobserved(selection const& of) const {
    bool found = false;
    trace_.for_each_choice([&](address const& at, datum const&) {
      found = found || (of.contains(at) && !observed_.contains(at));
    });
    return found;
  }
  bool step(selection const& of, random_key const& key) {
    try {
      auto proposed = model_.regenerate(trace_, of, observed_, key.at("draw"));
      undefined_ += overdub::is_nan(proposed.weight);
      random_generator g(key.at("accept"));
      if (!(std::log(g.uniform()) < proposed.weight)) return false;
      trace_ = std::move(proposed.of);
      return true;
    } catch (unmade_error const&) { // the proposal does not make an observed choice
      return false;
    } catch (model_error const&) { // a choice that cannot be drawn
      ++undefined_;
      return false;
    } catch (size_error const&) { // a kept array has another size than its distribution now
      ++undefined_;
      return false;
    }
  }

  Model model_;
  trace_type trace_;
  choice_map observed_;
  std::vector<selection> moved_;
  std::vector<address> reported_;
  std::size_t undefined_ = 0;
};

/// A function that makes a chain, for run_chains(resimulation(m, observed, {{"x"}, {"tree/"}}, {"x"}), settings, key), which reports the
/// choices at the addresses `reported`; they must be numbers. A chain begins at initial_trace(m, observed, key).
template <generative_function Model>
auto resimulation(
    Model const& m, choice_map const& observed, std::vector<selection> const& moved,
    std::vector<address> const& reported) {
  return [=](std::size_t, random_key const& key) {
    return resimulation_chain<Model>(m, initial_trace(m, observed, key), observed, moved, reported);
  };
}

} // namespace overdub::models
