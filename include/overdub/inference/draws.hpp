// draws: the draws of chains, with the sampler's statistics of each.
#pragma once

#include <overdub/call/utf8.hpp>
#include <overdub/core/library.hpp>
#include <overdub/inference/hamiltonian.hpp>
#include <overdub/inference/target.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::inference {

/// The names of the sampler's columns in CmdStan's files.
inline constexpr std::array<std::string_view, 7> sampler_columns = {
    "lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"};

/// The statistics of a draw in the order of `sampler_columns`.
std::array<double, 7> columns_of(sampler_statistics const& s);

/// The name of a variable in CmdStan's files: theta[1,2] and theta[1][2] become theta.1.2; other names are unchanged.
std::string csv_name(std::string_view name);

/// `csv_name` of each name. Throws inference_error for names that a file of draws cannot have: empty and duplicate ones, those of the
/// sampler's columns, ones that are no UTF-8, and ones with a comma, a quote, a #, a control character, or a space at an end. O(n log n).
std::vector<std::string> checked_names(std::vector<std::string> names);

/// Totals of a chain's transitions after the warm-up, including those without draws.
class transition_totals {
public:
  /// Adds a transition. `is_next` is whether it is the successor of the one added before: E-BFMI needs successive energies.
  void add(sampler_statistics const& s, bool is_next = true);

  std::size_t transitions() const { return transitions_; }
  std::size_t divergences() const { return divergences_; }
  /// The number of transitions that reached the maximum tree depth.
  std::size_t saturations() const { return saturations_; }
  /// The number of transitions that evaluated a log density that is NaN. Files of draws do not have it.
  std::size_t undefined() const { return undefined_; }
  /// Whether transitions have energies, as those of Hamiltonian samplers; the energies of other kernels are 0.
  bool energetic() const { return energetic_; }
  /// E-BFMI of all transitions, as `ebfmi` computes it. NaN for less than 4.
  double energy_fraction() const {
    return energies_ < 4 ? std::numeric_limits<double>::quiet_NaN() : steps_ / squares_;
  }

private:
  std::size_t transitions_ = 0, divergences_ = 0, saturations_ = 0, undefined_ = 0, energies_ = 0;
  double last_ = 0, steps_ = 0, mean_ = 0, squares_ = 0;
  bool energetic_ = false;
};

/// A chain's adapted step size and metric, the totals of its transitions, and its elapsed times.
struct chain_record {
  std::uint64_t id = 1;
  double step_size = 0;    ///< 0: the kernel has none, or the chain was stopped before it began
  std::string metric = {}; ///< diag_e or dense_e; or empty
  std::vector<double> inverse_metric = {}; ///< the diagonal, or rows
  double warmup_seconds = 0, sampling_seconds = 0;
  transition_totals totals = {};
  std::string undefined_point = {}; ///< where the log density was NaN first; empty, if it never was
};

/// One variable's values in chains of one length, chain after chain: the input of diagnostics.
struct chain_values {
  std::vector<double> values;
  std::size_t chains = 0;

  std::size_t length() const { return chains == 0 ? 0 : values.size() / chains; }
  std::span<double const> chain(std::size_t c) const { return {values.data() + c * length(), length()}; }
};

/// The draws of several chains: numbers by chain, draw and variable. Each chain has an array of its own. Chains may have different numbers
/// of draws. Different threads may append to different chains.
class draws {
public:
  draws() = default;
  /// Throws inference_error for names that `checked_names` rejects.
  draws(std::vector<std::string> names, std::size_t chains);

  /// The names of variables, as `csv_name` returns them.
  std::vector<std::string> const& names() const { return names_; }
  std::size_t variables() const { return names_.size(); }
  std::size_t chains() const { return chains_.size(); }
  /// The number of draws of a chain, and of all chains.
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

  /// Appends a draw of zeros to a chain, and returns a span to write it to, which is valid until the next append to the chain. Amortised
  /// O(1) per number.
  std::span<double> append(std::size_t chain, sampler_statistics const& statistics);
  /// Appends a draw. Throws inference_error unless there is a value for each variable.
  void append(std::size_t chain, sampler_statistics const& statistics, std::span<double const> values);

  /// The values of a variable, or of one of `sampler_columns`. If chains have different lengths, the first n draws of all chains that have
  /// n, for the n that gives the largest number of values. Throws inference_error for an unknown name.
  chain_values column(std::string_view name) const;

  /// The totals of a chain's record. If the record has no transitions, as for draws that were not sampled here, those of the draws.
  transition_totals totals(std::size_t chain) const;
  /// The number of divergent transitions after the warm-up, of all chains.
  std::size_t divergences() const;

private:
  struct one_chain {
    chain_record record = {};
    std::vector<double> values = {};
    std::vector<sampler_statistics> statistics = {};
  };

  template <class F>
  chain_values collect(F const& value) const;

  std::vector<std::string> names_;
  std::vector<one_chain> chains_;
};

} // namespace overdub::inference
