// draws: what chains gave, with the sampler's statistics of each draw.
#pragma once

#include <overdub/call/utf8.hpp>
#include <overdub/contexts/inference/hamiltonian.hpp>
#include <overdub/contexts/inference/target.hpp>

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
inline std::array<double, 7> columns_of(sampler_statistics const& s) {
  return {
      s.log_density,
      s.accept_statistic,
      s.step_size,
      static_cast<double>(s.tree_depth),
      static_cast<double>(s.leapfrog_steps),
      s.divergent ? 1.0 : 0.0,
      s.energy};
}

/// The name of a variable as CmdStan's files have it: theta[1,2] and theta[1][2] are theta.1.2; other names stay as they are.
inline std::string csv_name(std::string_view name) {
  std::string const whole(name);
  std::size_t i = name.find('[');
  if (i == std::string_view::npos || i == 0) return whole;
  std::string mapped(name.substr(0, i));
  while (i < name.size()) {
    if (name[i] != '[') return whole;
    do {
      ++i; // behind [ or a comma
      while (i < name.size() && name[i] == ' ') ++i;
      std::size_t const first = i;
      while (i < name.size() && name[i] >= '0' && name[i] <= '9') ++i;
      if (i == first || i == name.size()) return whole;
      mapped.append(".").append(name.substr(first, i - first));
    } while (name[i] == ',');
    if (name[i] != ']') return whole;
    ++i;
  }
  return mapped;
}

/// The names of variables as `csv_name` has them. Throws inference_error for names that a file of draws cannot have: ones that are
/// empty, are there twice, are those of the sampler's columns, are no UTF-8, or have a comma, a quote, a #, a control character, or a
/// space at an end. Takes time n log n in their number.
inline std::vector<std::string> checked_names(std::vector<std::string> names) {
  for (std::string& name : names) {
    name = csv_name(name);
    if (name.empty()) throw inference_error(message("overdub: a variable has no name: give it one"));
    if (std::string const text = detail::as_utf8(name); text != name)
      throw inference_error(message(
          "overdub: the name of the variable \"%.100s\" is no UTF-8: other programs could not read it",
          text.c_str()));
    if (name.front() == ' ' || name.back() == ' ' || std::ranges::any_of(name, [](char c) {
          return c == ',' || c == '"' || c == '#' || static_cast<unsigned char>(c) < ' ' || c == 127;
        }))
      throw inference_error(message(
          "overdub: the variable \"%.100s\" could not be read from a file of draws: a name has no comma, "
          "quote, # or control character, and no space at its ends",
          name.c_str()));
    if (std::ranges::find(sampler_columns, name) != sampler_columns.end())
      throw inference_error(message(
          "overdub: the variable %s has the name of one of the sampler's columns: give it another",
          name.c_str()));
  }
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  if (auto const twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw inference_error(message(
        "overdub: two variables are called %.100s: give each a name of its own",
        std::string(*twice).c_str()));
  return names;
}

/// What is counted of a chain's transitions after the warm-up, of those that are not kept, too.
class transition_totals {
public:
  /// Adds a transition. Energies are of use only if it came right after the one that was added last: `follows`.
  void add(sampler_statistics const& s, bool follows = true) {
    ++transitions_;
    divergences_ += s.divergent;
    saturations_ += s.saturated;
    undefined_ += s.undefined;
    energetic_ = energetic_ || s.energy != 0;
    if (!follows) return;
    if (energies_ > 0) steps_ += (s.energy - last_) * (s.energy - last_);
    last_ = s.energy;
    ++energies_;
    double const before = s.energy - mean_; // Welford's recurrence
    mean_ += before / static_cast<double>(energies_);
    squares_ += before * (s.energy - mean_);
  }

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
  draws(std::vector<std::string> names, std::size_t chains)
      : names_(checked_names(std::move(names))), chains_((check_count("chains", chains), chains)) {
    for (std::size_t c = 0; c < chains; ++c) chains_[c].record.id = c + 1;
  }

  /// As `csv_name` has them.
  std::vector<std::string> const& names() const { return names_; }
  std::size_t variables() const { return names_.size(); }
  std::size_t chains() const { return chains_.size(); }
  /// How many draws a chain has, and all of them.
  std::size_t size(std::size_t chain) const { return chains_[chain].statistics.size(); }
  std::size_t size() const {
    std::size_t all = 0;
    for (one_chain const& c : chains_) all += c.statistics.size();
    return all;
  }

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
  std::span<double> append(std::size_t chain, sampler_statistics const& statistics) {
    one_chain& c = chains_[chain];
    std::size_t const place = c.statistics.size() * variables();
    c.values.resize(place + variables());
    c.statistics.push_back(statistics);
    return {c.values.data() + place, variables()};
  }
  /// Adds a draw of these values. Throws inference_error unless there is one for each variable.
  void append(std::size_t chain, sampler_statistics const& statistics, std::span<double const> values) {
    if (values.size() != variables())
      throw inference_error(
          message("overdub: a draw of %zu numbers for %zu variables", values.size(), variables()));
    std::ranges::copy(values, append(chain, statistics).begin());
  }

  /// The values of a variable, or of one of `sampler_columns`. Where chains have different lengths, of their first draws, as many
  /// and of as many chains as give the most numbers. Throws inference_error for a name that is not there.
  chain_values column(std::string_view name) const {
    auto const own = std::ranges::find(names_, csv_name(name));
    if (own != names_.end()) {
      auto const v = static_cast<std::size_t>(own - names_.begin());
      return collect([&](std::size_t c, std::size_t i) { return values(c, i)[v]; });
    }
    auto const sampler = std::ranges::find(sampler_columns, name);
    if (sampler == sampler_columns.end())
      throw inference_error(message(
          "overdub: the draws have no variable %.*s: `names()` lists theirs", static_cast<int>(name.size()),
          name.data()));
    auto const v = static_cast<std::size_t>(sampler - sampler_columns.begin());
    return collect([&](std::size_t c, std::size_t i) { return columns_of(statistics(c, i))[v]; });
  }

  /// Of all transitions of a chain. Where its record has none, as of draws that were not sampled here, of the draws.
  transition_totals totals(std::size_t chain) const {
    one_chain const& c = chains_[chain];
    if (c.record.totals.transitions() > 0) return c.record.totals;
    transition_totals of_draws;
    for (sampler_statistics const& s : c.statistics) of_draws.add(s);
    return of_draws;
  }
  /// How many transitions after the warm-up ended in a divergence, of all chains.
  std::size_t divergences() const {
    std::size_t count = 0;
    for (std::size_t c = 0; c < chains(); ++c) count += totals(c).divergences();
    return count;
  }

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
