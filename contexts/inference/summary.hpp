// summary: a table of draws, with their Monte Carlo errors and what is wrong with them.
#pragma once

#include <overdub/contexts/inference/diagnostics.hpp>
#include <overdub/contexts/inference/draws.hpp>
#include <overdub/header_only.hpp>

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::inference {

/// The estimates of each variable, and of lp__, in rows; written to a stream as a table, and below it what speaks against the draws:
/// divergences; log densities that are NaN; trajectories that reached the greatest depth; of variables that are no constants, R-hats over
/// 1.01, effective sample sizes below 100 a chain, and R-hats and bulk sample sizes that are not defined; chains whose E-BFMI is below 0.3,
/// or not defined; chains that are not in the table, as they are shorter. Of kernels without energies, nothing is said of E-BFMI.
class summary {
public:
  struct row {
    std::string name;
    double mean = 0, sd = 0, mcse = 0; ///< mcse is that of the mean
    double q5 = 0, median = 0, q95 = 0;
    double rhat = 0, ess_bulk = 0, ess_tail = 0;
  };

  /// Takes time proportional to the variables, and for each that of the diagnostics.
  OVERDUB_DECL explicit summary(draws const& of);

  std::vector<row> const& rows() const { return rows_; }
  /// The row of a variable. Throws inference_error for a name that is not there.
  OVERDUB_DECL row const& operator[](std::string_view name) const;
  /// Of all transitions after the warm-up, kept or not.
  std::size_t transitions() const { return transitions_; }
  std::size_t divergences() const { return divergences_; }
  /// How many transitions met a log density that is NaN; they are divergences, too. Files of draws do not tell.
  std::size_t undefined() const { return undefined_; }
  /// How many transitions doubled their trajectory as often as they may.
  std::size_t saturations() const { return saturations_; }
  /// Whether a Hamiltonian made the draws: others have no divergences, and no energies.
  bool has_energies() const { return has_energies_; }
  /// The E-BFMI of each chain, of all its transitions.
  std::vector<double> const& energy_fractions() const { return ebfmi_; }

  /// What speaks against the draws, in sentences; none is what one wants.
  OVERDUB_DECL std::vector<std::string> warnings() const;

private:
  [[noreturn]] OVERDUB_DECL void throw_missing(std::string_view name) const;
  std::vector<row> rows_;
  std::vector<double> ebfmi_;
  std::size_t undefined_fractions_ = 0; // of chains that have energies
  std::vector<std::size_t> lengths_;    // of all chains
  std::size_t chains_ = 0, length_ = 0; // of those in the table
  std::size_t transitions_ = 0, divergences_ = 0, saturations_ = 0, undefined_ = 0;
  bool has_energies_ = false;
  std::string undefined_point_; // of the first chain that met one
};
/// The table, and the warnings below it.
OVERDUB_DECL std::ostream& operator<<(std::ostream& out, summary const& s);

} // namespace overdub::inference

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/inference/summary.ipp>
#endif
