// summary: a table of draws, with their Monte Carlo errors and what is wrong with them.
#pragma once

#include <overdub/contexts/inference/diagnostics.hpp>
#include <overdub/contexts/inference/draws.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::inference {

/// The estimates of each variable, and of lp__, in rows; written to a stream as a table, and below it what speaks against the draws:
/// divergences; trajectories that reached the greatest depth; of variables that are no constants, R-hats over 1.01, effective sample
/// sizes below 100 a chain, and ones that are not defined; chains whose E-BFMI is below 0.3, or not defined; chains that are not in
/// the table, as they are shorter. Of kernels without energies, nothing is said of E-BFMI.
class summary {
public:
  struct row {
    std::string name;
    double mean = 0, sd = 0, mcse = 0; ///< mcse is that of the mean
    double q5 = 0, median = 0, q95 = 0;
    double rhat = 0, ess_bulk = 0, ess_tail = 0;
  };

  /// Takes time proportional to the variables, and for each that of the diagnostics.
  explicit summary(draws const& of) {
    chain_values const log_density = of.column("lp__");
    rows_.push_back(row_of("lp__", log_density));
    for (std::string const& name : of.names()) rows_.push_back(row_of(name, of.column(name)));
    chains_ = log_density.chains;
    length_ = log_density.length();
    for (std::size_t c = 0; c < of.chains(); ++c) {
      lengths_.push_back(of.size(c));
      transition_totals const totals = of.totals(c);
      transitions_ += totals.transitions();
      divergences_ += totals.divergences();
      saturations_ += totals.saturations();
      ebfmi_.push_back(totals.energy_fraction());
      undefined_fractions_ += std::isnan(ebfmi_.back()) && (totals.energetic() || totals.transitions() == 0);
    }
  }

  std::vector<row> const& rows() const { return rows_; }
  /// The row of a variable. Throws inference_error for a name that is not there.
  row const& operator[](std::string_view name) const {
    auto const r = std::ranges::find(rows_, csv_name(name), &row::name);
    if (r == rows_.end())
      throw inference_error(message(
          "overdub: the summary has no variable %.*s: `rows()` lists them", static_cast<int>(name.size()),
          name.data()));
    return *r;
  }
  /// Of all transitions after the warm-up, kept or not.
  std::size_t transitions() const { return transitions_; }
  std::size_t divergences() const { return divergences_; }
  /// How many transitions doubled their trajectory as often as they may.
  std::size_t saturations() const { return saturations_; }
  /// The E-BFMI of each chain, of all its transitions.
  std::vector<double> const& energy_fractions() const { return ebfmi_; }

  /// What speaks against the draws, in sentences; none is what one wants.
  std::vector<std::string> warnings() const {
    std::vector<std::string> all;
    auto const text = [](std::size_t n) { return std::to_string(n); };
    if (auto const n = count(lengths_, [&](std::size_t l) { return l != length_; }); n > 0)
      all.push_back(
          "chains have from " + text(std::ranges::min(lengths_)) + " to " + text(std::ranges::max(lengths_)) +
          " draws: the table is of the first " + text(length_) + " of " + text(chains_) + " of " +
          text(lengths_.size()) + " chains");
    if (divergences_ > 0)
      all.push_back(
          text(divergences_) + " of " + text(transitions_) +
          " transitions ended in divergences: the target has places that are too curved for the step size");
    if (saturations_ > 0)
      all.push_back(
          text(saturations_) + " of " + text(transitions_) +
          " transitions doubled as often as max_depth allows: their trajectories were cut short");
    auto const warn = [&](char const* what, char const* why, auto const& holds) {
      if (auto const n = count(rows_, [&](row const& r) { return r.sd != 0 && holds(r); }); n > 0)
        all.push_back(what + text(n) + " of " + text(rows_.size()) + " variables: " + why);
    };
    warn("R-hat is over 1.01 for ", "the chains do not agree", [](row const& r) { return r.rhat > 1.01; });
    double const enough = 100 * static_cast<double>(chains_);
    warn("the effective sample size is below 100 a chain for ", "more draws are needed", [&](row const& r) {
      return r.ess_bulk < enough || r.ess_tail < enough;
    });
    warn(
        "R-hat or an effective sample size is not defined for ",
        "draws are few, or not finite, or more than 5 % of them are the greatest or least value",
        [](row const& r) { return std::isnan(r.rhat) || std::isnan(r.ess_bulk) || std::isnan(r.ess_tail); });
    if (auto const n = count(ebfmi_, [](double e) { return e < 0.3; }); n > 0)
      all.push_back(
          "E-BFMI is below 0.3 in " + text(n) + " of " + text(ebfmi_.size()) +
          " chains: the tails are not explored");
    if (undefined_fractions_ > 0)
      all.push_back(
          "E-BFMI is not defined in " + text(undefined_fractions_) + " of " + text(ebfmi_.size()) +
          " chains: transitions are few, or thinned in a file, or of one energy");
    return all;
  }

  friend std::ostream& operator<<(std::ostream& out, summary const& s) {
    static constexpr std::array<char const*, 9> heads = {"mean", "mcse",  "sd",       "5%",      "50%",
                                                         "95%",  "R-hat", "ESS bulk", "ESS tail"};
    std::size_t width = 0;
    for (row const& r : s.rows_) width = std::max(width, r.name.size());
    out << std::string(width, ' ');
    char cell[40];
    for (char const* head : heads) {
      std::snprintf(cell, sizeof cell, " %10s", head);
      out << cell;
    }
    out << '\n';
    for (row const& r : s.rows_) {
      out << r.name << std::string(width - r.name.size(), ' ');
      for (double const v : {r.mean, r.mcse, r.sd, r.q5, r.median, r.q95}) {
        std::snprintf(cell, sizeof cell, " %10.4g", v);
        out << cell;
      }
      std::snprintf(cell, sizeof cell, " %10.3f %10.0f %10.0f\n", r.rhat, r.ess_bulk, r.ess_tail);
      out << cell;
    }
    for (std::string const& w : s.warnings()) out << w << '\n';
    return out;
  }

private:
  template <class R, class F>
  static std::size_t count(R const& range, F const& holds) {
    return static_cast<std::size_t>(std::ranges::count_if(range, holds));
  }
  static row row_of(std::string const& name, chain_values const& x) {
    row r{.name = name};
    if (x.values.size() < 2) {
      r.mean = r.sd = r.mcse = r.q5 = r.median = r.q95 = r.rhat = r.ess_bulk = r.ess_tail = diagnosing::none;
      return r;
    }
    std::vector<double> sorted = x.values;
    if (std::ranges::any_of(
            sorted, [](double v) { return std::isnan(v); })) // have no order, and no quantiles
      std::ranges::fill(sorted, diagnosing::none);
    std::ranges::sort(sorted);
    r.mean = diagnosing::mean(x.values);
    r.sd = std::sqrt(diagnosing::variance(x.values));
    r.mcse = mcse_mean(x);
    r.q5 = diagnosing::quantile_of_sorted(sorted, 0.05);
    r.median = diagnosing::quantile_of_sorted(sorted, 0.5);
    r.q95 = diagnosing::quantile_of_sorted(sorted, 0.95);
    r.rhat = rhat(x);
    r.ess_bulk = ess_bulk(x);
    r.ess_tail = ess_tail(x);
    return r;
  }

  std::vector<row> rows_;
  std::vector<double> ebfmi_;
  std::size_t undefined_fractions_ = 0; // of chains that have energies
  std::vector<std::size_t> lengths_;    // of all chains
  std::size_t chains_ = 0, length_ = 0; // of those in the table
  std::size_t transitions_ = 0, divergences_ = 0, saturations_ = 0;
};

} // namespace overdub::inference
