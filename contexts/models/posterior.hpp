// posterior: a model with observations as a target of Hamiltonian Monte Carlo and of all else that samples densities on R^n.
#pragma once

#include <overdub/compile/tiered_program.hpp>
#include <overdub/contexts/inference/target.hpp>
#include <overdub/contexts/models/model.hpp>
#include <overdub/header_only.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// The density of a model's choices given observations, as a function of the unobserved choices transformed to numbers without constraints; with the
/// logarithm of the Jacobian, and the gradient by reverse differentiation. A `reporting_target`: sample(posterior(m, observations)).
/// A draw has the choices themselves, with Stan's names, which count from 1: theta[1], theta[2].
///
/// Copies share the programs; one thread uses one at a time. A call allocates nothing.
class posterior {
public:
  /// Throws model_error for a choice that is discrete, or nested in a branch, and is not observed; for observations of a part of a site;
  /// and what `generate` throws.
  template <class Result, class... A>
  posterior(generative_function<Result, A...> const& m, choice_map const& observed)
      : posterior(m.core(), m.inputs(), observed) {}
  OVERDUB_DECL
  posterior(shared_core const& m, std::vector<datum> const& arguments, choice_map const& observed);
  OVERDUB_DECL posterior(posterior const& other);
  posterior(posterior&&) = default;

  /// How many numbers without constraints there are.
  std::size_t dimension() const { return layout_->dimension; }
  OVERDUB_DECL double operator()(std::span<double const> q, std::span<double> gradient);
  std::vector<std::string> names() const { return layout_->names; }
  OVERDUB_DECL void report(std::span<double const> q, std::span<double> out);

  /// The numbers of a trace's choices.
  OVERDUB_DECL std::vector<double> numbers_of(trace const& t) const;
  /// The trace of numbers.
  OVERDUB_DECL trace trace_of(std::span<double const> q) const;
  /// What speaks against a point, in a sentence: a choice whose log density is not finite. Nothing, where none is.
  std::string improper_choice(std::span<double const> q) const {
    return models::improper_choice(trace_of(q));
  }

private:
  struct part { // the numbers of a site
    std::uint32_t site = 0;
    std::uint32_t parameter = 0;
    std::size_t first = 0, size = 0;
    std::vector<i64> extents; // none for one number
  };
  struct layout {
    shared_core core;
    std::vector<datum> arguments; // and observations
    std::vector<role> roles;
    std::vector<datum> observed;    // by site
    std::vector<datum> precomputed; // what was computed of arguments and observations, once
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

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/posterior.ipp>
#endif
