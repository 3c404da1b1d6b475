// draws: what chains gave, with the sampler's statistics of each draw.
#pragma once

#include <overdub/call/utf8.hpp>
#include <overdub/contexts/inference/hamiltonian.hpp>
#include <overdub/contexts/inference/target.hpp>
#include <overdub/header_only.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::inference {

/// The names of the sampler's columns, as CmdStan's files have them.
inline constexpr std::array<std::string_view, 7> sampler_columns = {
    "lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"};

/// The statistics of a draw in the order of `sampler_columns`.
OVERDUB_DECL std::array<double, 7> columns_of(sampler_statistics const& s);

/// The name of a variable as CmdStan's files have it: theta[1,2] and theta[1][2] are theta.1.2; other names stay as they are.
OVERDUB_DECL std::string csv_name(std::string_view name);

/// The names of variables as `csv_name` has them. Throws inference_error for names that a file of draws cannot have: ones that are
/// empty, are there twice, are those of the sampler's columns, are no UTF-8, or have a comma, a quote, a #, a control character, or a
/// space at an end. Takes time n log n in their number.
OVERDUB_DECL std::vector<std::string> checked_names(std::vector<std::string> names);

/// What is counted of a chain's transitions after the warm-up, of those that are not kept, too.
class transition_totals {
public:
  /// Adds a transition. Energies are of use only if it came right after the one that was added last: `follows`.
  void add(sampler_statistics const& s, bool follows = true);

  std::size_t transitions() const { return transitions_; }
  std::size_t divergences() const { return divergences_; }
  /// How many doubled as often as they may.
  std::size_t saturations() const { return saturations_; }
  /// How many met a log density that is NaN. Files of draws do not tell.
  std::size_t undefined() const { return undefined_; }
  /// Whether transitions have energies: those of a Hamiltonian have, and those of other kernels have 0 in their place.
  bool energetic() const { return energetic_; }
  /// The energy Bayesian fraction of missing information: what `ebfmi` is of the energies of all transitions. NaN of less than 4.
  double energy_fraction() const {
    return energies_ < 4 ? std::numeric_limits<double>::quiet_NaN() : steps_ / squares_;
  }

private:
  std::size_t transitions_ = 0, divergences_ = 0, saturations_ = 0, undefined_ = 0, energies_ = 0;
  double last_ = 0, steps_ = 0, mean_ = 0, squares_ = 0;
  bool energetic_ = false;
};

/// What a chain was adapted to, what all its transitions were, and how long it took.
struct chain_record {
  std::uint64_t id = 1;
  double step_size = 0;                    ///< 0: the chain was stopped before it began, or has none
  std::string metric = {};                 ///< diag_e or dense_e; or empty
  std::vector<double> inverse_metric = {}; ///< the diagonal, or rows
  double warmup_seconds = 0, sampling_seconds = 0;
  transition_totals totals = {};
  std::string undefined_point =
      {}; ///< where the log density was NaN first, in words; empty, where it never was
};

/// One variable's values in chains of one length, chain after chain: what diagnostics are computed of.
struct chain_values {
  std::vector<double> values;
  std::size_t chains = 0;

  std::size_t length() const { return chains == 0 ? 0 : values.size() / chains; }
  std::span<double const> chain(std::size_t c) const { return {values.data() + c * length(), length()}; }
};

/// The draws of some chains: numbers by chain, draw and variable, each chain's in one array that grows. Chains may have different
/// numbers of draws. Different threads may add to different chains.
class draws {
public:
  draws() = default;
  /// Throws inference_error for names that `checked_names` refuses.
  draws(std::vector<std::string> names, std::size_t chains);

  /// As `csv_name` has them.
  std::vector<std::string> const& names() const { return names_; }
  std::size_t variables() const { return names_.size(); }
  std::size_t chains() const { return chains_.size(); }
  /// How many draws a chain has, and all of them.
  std::size_t size(std::size_t chain) const { return chains_[chain].statistics.size(); }
  std::size_t size() const;

  std::span<double const> values(std::size_t chain, std::size_t draw) const {
    return {chains_[chain].values.data() + draw * variables(), variables()};
  }
  sampler_statistics const& statistics(std::size_t chain, std::size_t draw) const {
    return chains_[chain].statistics[draw];
  }
  chain_record& record(std::size_t chain) { return chains_[chain].record; }
  chain_record const& record(std::size_t chain) const { return chains_[chain].record; }

  /// Adds a draw to a chain: zeros, to be written to the span, which is valid until the chain's next draw is added. In constant
  /// time on average.
  std::span<double> append(std::size_t chain, sampler_statistics const& statistics);
  /// Adds a draw of these values. Throws inference_error unless there is one for each variable.
  void append(std::size_t chain, sampler_statistics const& statistics, std::span<double const> values);

  /// The values of a variable, or of one of `sampler_columns`. Where chains have different lengths, of their first draws, as many
  /// and of as many chains as give the most numbers. Throws inference_error for a name that is not there.
  chain_values column(std::string_view name) const;

  /// Of all transitions of a chain. Where its record has none, as of draws that were not sampled here, of the draws.
  transition_totals totals(std::size_t chain) const;
  /// How many transitions after the warm-up ended in a divergence, of all chains.
  std::size_t divergences() const;

private:
  struct one_chain {
    chain_record record = {};
    std::vector<double> values = {};
    std::vector<sampler_statistics> statistics = {};
  };

  template <class F>
  chain_values collect(F const& value) const {
    std::vector<std::size_t> lengths;
    for (one_chain const& c : chains_) lengths.push_back(c.statistics.size());
    std::ranges::sort(lengths, std::greater<>());
    std::size_t length = 0, most = 0;
    for (std::size_t k = 0; k < lengths.size(); ++k)
      if (lengths[k] * (k + 1) > most) {
        most = lengths[k] * (k + 1);
        length = lengths[k];
      }
    chain_values result;
    if (length == 0) return result;
    result.values.reserve(most);
    for (std::size_t c = 0; c < chains(); ++c) {
      if (size(c) < length) continue;
      ++result.chains;
      for (std::size_t i = 0; i < length; ++i) result.values.push_back(value(c, i));
    }
    return result;
  }

  std::vector<std::string> names_;
  std::vector<one_chain> chains_;
};

} // namespace overdub::inference

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/inference/draws.ipp>
#endif
