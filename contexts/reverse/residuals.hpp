// Store or recompute: which values of a forward computation are kept for the backward one, and which are computed again there.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/id.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace overdub::contexts::adjoint {

/// What may be kept or computed again: operations, each with the values that it gives and those that it takes, by number.
struct residual_problem {
  static constexpr double never = std::numeric_limits<double>::infinity();

  struct value {
    std::uint32_t made_by = none; // an operation; none: it is given, and can only be kept
    double cost_of_keeping = never;
    bool is_needed = false;
  };
  struct operation {
    double cost = never; // of computing it again
    std::vector<std::uint32_t> takes;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::vector<value> values;
  std::vector<operation> operations;
};

struct residual_choice {
  std::vector<bool> keeps; // by value
  double cost = 0;         // residual_problem::never: there is no way
};

/// The cheapest values to keep such that all that is needed is kept, or computed again from what is kept: a minimum cut. The
/// flow is Boost.Graph's, by Boykov and Kolmogorov's algorithm (An experimental comparison of min-cut/max-flow algorithms, 2004).
OVERDUB_DECL residual_choice choose_residuals(residual_problem const& problem);

} // namespace overdub::contexts::adjoint

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/reverse/residuals.ipp>
#endif
