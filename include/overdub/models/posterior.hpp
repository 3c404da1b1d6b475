// posterior: a model with observations as a target on R^n, for Hamiltonian Monte Carlo and other samplers.
#pragma once

#include <overdub/compile/tiered_program.hpp>
#include <overdub/core/library.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/models/model.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace overdub::models {

/// The posterior density of a model on the unconstrained space: the log joint density of the observations and of the transformed unobserved
/// choices, plus log |det J| of the transform, with the gradient by reverse-mode differentiation. It is a `reporting_target`:
/// sample(posterior(m, observations)). A draw has the choices on their supports, with Stan's names, whose indices count from 1: theta[1].
///
/// Copies share the programs. Each is used by one thread at a time. Evaluation allocates nothing.
class posterior {
public:
  /// Throws model_error for an unobserved choice that is discrete or nested in a branch, for observations of a part of a site, and what
  /// `generate` throws.
  template <class Result, class... A>
  posterior(staged_function<Result, A...> const& m, choice_map const& observed)
      : posterior(m.core(), m.inputs(), observed) {}
  posterior(shared_core const& m, std::vector<datum> const& arguments, choice_map const& observed);
  posterior(posterior const& other);
  posterior(posterior&&) = default;

  /// The dimension of the unconstrained space.
  std::size_t dimension() const { return layout_->dimension; }
  double operator()(std::span<double const> q, std::span<double> gradient);
  std::vector<std::string> names() const { return layout_->names; }
  void report(std::span<double const> q, std::span<double> out);

  /// The point of a trace.
  std::vector<double> numbers_of(trace const& t) const;
  /// The trace of a point.
  trace trace_of(std::span<double const> q) const;
  /// A sentence with a choice whose log density is not finite at a point; empty where there is none.
  std::string improper_choice(std::span<double const> q) const {
    return models::improper_choice(trace_of(q));
  }

private:
  struct part { // the coordinates of a site
    std::uint32_t site = 0;
    std::uint32_t parameter = 0;
    std::size_t first = 0, size = 0;
    std::vector<i64> extents; // none for a scalar
  };
  struct layout {
    shared_core core;
    std::vector<datum> arguments; // and observations
    std::vector<role> roles;
    std::vector<datum> observed;    // by site
    std::vector<datum> precomputed; // results of the static part, which depends on arguments and observations
    std::vector<part> parts;
    std::size_t dimension = 0;
    std::vector<std::string> names;
    std::shared_ptr<tiered_program const> gradient, values;
  };

  void bind();
  void lend(bound_call& to, std::span<double const> q) const;

  std::shared_ptr<layout const> layout_;
  std::optional<tiered_call> gradient_, values_;
};

} // namespace overdub::models
