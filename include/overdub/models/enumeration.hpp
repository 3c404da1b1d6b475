// enumerate: the exact posterior of a model with few choices, all discrete, by enumeration.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/models/choice_order.hpp>
#include <overdub/models/model.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::models {

/// The posterior of discrete choices.
class enumeration {
public:
  /// The logarithm of the probability of the observations.
  double log_evidence() const { return log_evidence_; }
  /// The number of assignments with a probability above 0.
  std::size_t size() const { return size_; }
  /// The posterior probability of a value at an address. Throws model_error where the address was not enumerated.
  double probability(address const& at, i64 value) const;
  /// The marginal probabilities, by address and value.
  std::map<address, std::map<i64, double>> const& marginals() const { return marginals_; }

private:
  friend class enumerator;
  double log_evidence_ = -std::numeric_limits<double>::infinity();
  std::size_t size_ = 0;
  std::map<address, std::map<i64, double>> marginals_;
};

// Enumerates the values of the choices of a trace that are not observed.
enumeration enumerate_from(trace const& start, choice_map const& observed, std::size_t maximum);

/// The exact posterior of the choices that are not observed. Throws model_error where one has infinitely many values or is nested in a
/// branch, and for more than `maximum` assignments. Time: a run of the model per assignment. Memory: O(assignments x choices).
template <class Result, class... A>
enumeration enumerate(
    staged_function<Result, A...> const& m, choice_map const& observed, std::size_t maximum = 1'000'000) {
  return enumerate_from(m.generate(observed, random_key(0)).of, observed, maximum);
}

} // namespace overdub::models
