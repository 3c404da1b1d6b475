// summary: a table of estimates from draws, with Monte Carlo standard errors, diagnostics and warnings.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/diagnostics.hpp>
#include <overdub/inference/draws.hpp>

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::inference {

/// The estimates of lp__ and of each variable, in rows. operator<< writes the table, and below it the warnings: divergences; log densities
/// that are NaN; trajectories of the maximum tree depth; for variables that are not constant, R-hats over 1.01, effective sample sizes
/// below 100 per chain, and undefined R-hats and bulk effective sample sizes; chains whose E-BFMI is below 0.3 or undefined; chains that
/// the table excludes since they are shorter. Without energies, there are no warnings of E-BFMI.
class summary {
public:
  struct row {
    std::string name;
    double mean = 0, sd = 0, mcse = 0; ///< mcse is that of the mean
    double q5 = 0, median = 0, q95 = 0;
    double rhat = 0, ess_bulk = 0, ess_tail = 0;
  };

  /// Computes the diagnostics of each variable.
  explicit summary(draws const& of);

  std::vector<row> const& rows() const { return rows_; }
  /// The row of a variable. Throws inference_error for an unknown name.
  row const& operator[](std::string_view name) const;
  /// Counts of all transitions after the warm-up, including those without draws.
  std::size_t transitions() const { return transitions_; }
  std::size_t divergences() const { return divergences_; }
  /// The number of transitions that evaluated a log density that is NaN; they are divergences, too. Files of draws do not have it.
  std::size_t undefined() const { return undefined_; }
  /// The number of transitions that reached the maximum tree depth.
  std::size_t saturations() const { return saturations_; }
  /// Whether a Hamiltonian sampler made the draws: others have no divergences and no energies.
  bool has_energies() const { return has_energies_; }
  /// The E-BFMI of each chain, of all its transitions; NaN if they have no energies.
  std::vector<double> const& energy_fractions() const { return ebfmi_; }

  /// The warnings, as sentences; empty if all diagnostics are within their limits.
  std::vector<std::string> warnings() const;

private:
  [[noreturn]] void throw_missing(std::string_view name) const;
  std::vector<row> rows_;
  std::vector<double> ebfmi_;
  std::size_t undefined_fractions_ = 0; // of chains with energies
  std::vector<std::size_t> lengths_;    // of all chains
  std::size_t chains_ = 0, length_ = 0; // of the chains in the table
  std::size_t transitions_ = 0, divergences_ = 0, saturations_ = 0, undefined_ = 0;
  bool has_energies_ = false;
  std::string undefined_point_; // of the first chain that has one
};
/// The table, and the warnings below it.
std::ostream& operator<<(std::ostream& out, summary const& s);

} // namespace overdub::inference
