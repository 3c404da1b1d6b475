// The choice of residuals, as a minimum cut: which values the forward pass saves, and which the backward pass recomputes from saved ones.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/id.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace overdub::adjoint {

/// The values and operations of the primal code. Operations refer to values by index.
struct residual_problem {
  static constexpr double never = std::numeric_limits<double>::infinity();

  struct value {
    std::uint32_t made_by = none; // the operation that computes it; none: it can be saved, and not recomputed
    double cost_of_saving = never;
    bool is_needed = false;
  };
  struct operation {
    double cost = never; // of recomputing it
    std::vector<std::uint32_t> takes;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::vector<value> values;
  std::vector<operation> operations;
};

struct residual_choice {
  std::vector<bool> saves; // for each value
  double cost = 0;         // residual_problem::never: there is no solution
};

/// The cheapest set of residuals such that each needed value is saved, or recomputed from saved values: a minimum cut, as
/// in the min-cut partitioner of PyTorch. The flow is Boost.Graph's, by Boykov and Kolmogorov's algorithm (An experimental
/// comparison of min-cut/max-flow algorithms, 2004).
residual_choice choose_residuals(residual_problem const& problem);

} // namespace overdub::adjoint
