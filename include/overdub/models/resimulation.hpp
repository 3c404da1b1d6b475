// resimulation: Metropolis-Hastings for dynamic models. A proposal draws some choices from their distributions, and keeps the others
// (`regenerate` of Gen).
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/inference/run_chains.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/models/dynamic.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::models {

/// One chain of a dynamic model. A transition makes one step for each selection, in order: it proposes the selection's unobserved choices
/// from their distributions, and accepts or rejects the proposal. A selection without unobserved choices is skipped. The class is a
/// transition_kernel.
template <class Model>
class resimulation_chain {
public:
  using trace_type = typename Model::trace_type;

  /// Throws model_error if `start` has an array at a reported address.
  resimulation_chain(
      Model m, trace_type start, choice_map observed, std::vector<selection> moved,
      std::vector<address> reported)
      : model_(std::move(m)), trace_(std::move(start)), observed_(std::move(observed)),
        moved_(std::move(moved)), reported_(std::move(reported)) {
    for (address const& at : reported_)
      if (made_choice const* const choice = trace_.made().find(at);
          choice != nullptr && choice->value.type().rank > 0)
        throw model_error(message(
            "overdub: the choice %.80s is an array, and only numbers can be reported; remove it from the "
            "reported addresses",
            text_of(at).c_str()));
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
    for (std::size_t k = 0; k < reported_.size(); ++k) {
      made_choice const* const choice = trace_.made().find(reported_[k]);
      out[k] = choice == nullptr
                   ? std::numeric_limits<double>::quiet_NaN()
                   : detail::typed_value(reported_[k], choice->value, ir::f64).template as<double>();
    }
  }
  trace_type const& state() const { return trace_; }
  /// The number of proposals that were rejected because their weight is NaN, because a choice cannot be drawn, or because a kept array has
  /// another size than its distribution.
  std::size_t undefined() const { return undefined_; }

private:
  // Whether the trace has an unobserved choice of the selection.
  bool has_unobserved(selection const& of) const {
    return std::any_of(trace_.made().begin(), trace_.made().end(), [&](auto const& each) {
      return of.contains(each.first) && !observed_.contains(each.first);
    });
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
/// choices at the addresses `reported`; they must be numbers. The function generates traces of the observations until one has a finite log
/// density. After 100 that have none, or do not make an observed choice, it throws model_error with the reason of the last one.
template <class F, class... A>
auto resimulation(
    dynamic_function<F, A...> const& m, choice_map const& observed, std::vector<selection> const& moved,
    std::vector<address> const& reported) {
  using model = dynamic_function<F, A...>;
  return [=](std::size_t, random_key const& key) {
    std::string why;
    for (i64 attempt = 0; attempt < 100; ++attempt) {
      auto const start = [&]() -> std::vector<typename model::trace_type> {
        try {
          auto t = m.generate(observed, key.at(attempt)).of;
          if (overdub::is_finite(t.score())) return {std::move(t)};
          for (auto const& [at, choice] : t.made())
            if (!overdub::is_finite(choice.log_density)) {
              why = "the log density of " + text_of(at) + " is " +
                    (overdub::is_nan(choice.log_density)
                         ? "NaN"
                         : io::number_text(choice.log_density, io::significant(6)));
              break;
            }
        } catch (unmade_error const& e) { // the drawn trace does not make an observed choice
          why = std::string_view(e.what()).substr(9);
        }
        return {};
      }();
      if (!start.empty()) return resimulation_chain<model>(m, start[0], observed, moved, reported);
    }
    throw model_error(message(
        "overdub: of 100 traces of a dynamic model none has these observations and a finite density; of the "
        "last, %.150s",
        why.c_str()));
  };
}

} // namespace overdub::models
