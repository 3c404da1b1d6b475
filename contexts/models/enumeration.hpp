// enumerate: the exact posterior of a model with few, discrete choices.
#pragma once

#include <overdub/contexts/incremental/cells.hpp>
#include <overdub/contexts/models/choice_order.hpp>
#include <overdub/contexts/models/model.hpp>
#include <overdub/core/floating_point.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// All values of choices that were not observed, with their probabilities.
class enumeration {
public:
  /// The logarithm of the probability of the observations.
  double log_evidence() const { return log_evidence_; }
  /// How many assignments have a probability above 0.
  std::size_t size() const { return size_; }
  /// The probability of a value at an address, given the observations. Throws model_error for what was not enumerated.
  double probability(address const& at, i64 value) const;
  /// By address and value.
  std::map<address, std::map<i64, double>> const& marginals() const { return marginals_; }

private:
  friend class enumerator;
  double log_evidence_ = -std::numeric_limits<double>::infinity();
  std::size_t size_ = 0;
  std::map<address, std::map<i64, double>> marginals_;
};

// The enumeration from a trace on, whose choices that are not observed are set to each of their values.
OVERDUB_DECL enumeration enumerate_from(trace const& start, choice_map const& observed, std::size_t maximum);

/// The exact posterior of the choices that are not observed, which have finitely many values. Throws model_error for others, for choices
/// in branches, and where there are more than so many assignments. A run of the model for each assignment; memory: that of all.
template <class Result, class... A>
enumeration enumerate(
    generative_function<Result, A...> const& m, choice_map const& observed, std::size_t most = 1'000'000) {
  return enumerate_from(m.generate(observed, random_key(0)).of, observed, most);
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/enumeration.ipp>
#endif
