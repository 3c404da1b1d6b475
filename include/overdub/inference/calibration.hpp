// Tests of a sampler: simulation-based calibration, and Geweke's joint distribution test. Both use the sampler's draws and simulations of
// the model alone. It needs the headers of random.hpp.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/random.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::inference {

namespace calibrating {

// Which of some hypotheses are rejected, with a probability of at most `level` that any true one is (Holm 1979, "A simple
// sequentially rejective multiple test procedure").
std::vector<bool> holm(std::span<double const> p_values, double level);

void check_level(double false_alarm);

// The given names, or theta.1, theta.2, ...
std::vector<std::string> names_of(std::vector<std::string> given, std::size_t count);

std::size_t index_of_name(std::vector<std::string> const& names, std::string_view name);

} // namespace calibrating

/// Settings of `simulation_based_calibration`.
struct calibration_settings {
  std::size_t simulations = 1000;
  std::size_t draws =
      63; ///< of the sampler in each simulation, nearly independent; ranks are from 0 to this number
  std::size_t bins = 16;               ///< of the ranks' histogram; they divide draws + 1
  double false_alarm = 0.001;          ///< the probability that a correct sampler fails
  std::vector<std::string> names = {}; ///< of the parameters; empty: theta.1, theta.2, ...
  unsigned threads = 1; ///< that call the functions concurrently; 0: as many as there are processors
};

/// The result of simulation-based calibration.
class calibration {
public:
  /// `ranks` are from 0 to `draws`, by parameter and simulation.
  calibration(
      std::vector<std::string> names, std::vector<std::vector<std::size_t>> ranks,
      calibration_settings const& settings);

  std::vector<std::string> const& names() const { return names_; }
  /// The rank of the prior's draw among the sampler's, in each simulation. Throws inference_error for an unknown name, as the next does.
  std::span<std::size_t const> ranks(std::string_view name) const {
    return ranks_[calibrating::index_of_name(names_, name)];
  }
  /// The p-value of Pearson's chi-square test that a parameter's ranks are uniform.
  double p_value(std::string_view name) const { return p_values_[calibrating::index_of_name(names_, name)]; }
  /// Whether the test rejects no parameter, with Holm's correction.
  bool passed() const { return findings().empty(); }
  /// A sentence for each rejected parameter.
  std::vector<std::string> findings() const;

  /// A table of the parameters, and the findings below it.
  friend std::ostream& operator<<(std::ostream& out, calibration const& c);

private:
  double uniformity(std::vector<std::size_t> const& ranks, std::size_t bins) const;
  // The mean of u - 1/2 and of its square, for the ranks as fractions u of (0, 1).
  std::pair<double, double> moments(std::size_t p) const;
  // A sentence on the histogram of the ranks: its slope or its curvature, whichever is more standard errors from 0.
  std::string shape(std::size_t p) const;

  std::vector<std::string> names_;
  std::vector<std::vector<std::size_t>> ranks_;
  std::vector<double> p_values_;
  std::vector<bool> rejected_;
  std::size_t draws_;
};

namespace calibrating {
struct simulation {
  std::vector<double> truth;
  std::vector<std::vector<double>> posterior;
};
calibration calibrate(
    std::function<simulation(random_key const& here)> const& simulate, calibration_settings const& settings,
    random_key const& key);
} // namespace calibrating

/// Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari and Gelman 2018, "Validating Bayesian inference algorithms with
/// simulation-based calibration"): if parameters are drawn from the prior, and data given the parameters, the rank of a parameter among a
/// correct sampler's draws given the data is uniform. It calls
///
///   draw_prior(key)                        a std::vector<double> of parameters,
///   draw_data(parameters, key)             data of any type,
///   sample_posterior(data, key, draws)     this number of draws, a std::vector<std::vector<double>>, which should be nearly independent,
///
/// in simulation i with the keys key.at(i).at("prior"), .at("data") and .at("posterior"). Ties are broken at random. Throws
/// inference_error for invalid settings, for another number or size of draws, and for NaN.
template <
    std::invocable<random_key const&> P, std::invocable<std::vector<double> const&, random_key const&> D,
    class S>
calibration simulation_based_calibration(
    P const& draw_prior, D const& draw_data, S const& sample_posterior, calibration_settings const& settings,
    random_key const& key) {
  return calibrating::calibrate(
      [&](random_key const& here) {
        calibrating::simulation one{.truth = draw_prior(here.at("prior")), .posterior = {}};
        auto const data = draw_data(one.truth, here.at("data"));
        one.posterior = sample_posterior(data, here.at("posterior"), settings.draws);
        return one;
      },
      settings, key);
}

/// Settings of `geweke_joint_test`.
struct joint_test_settings {
  std::size_t simulations = 10000; ///< independent ones, of the joint distribution
  std::size_t chains = 4;          ///< of alternating transitions and data
  std::size_t iterations = 2500;   ///< of each chain, at least 6
  double false_alarm = 0.001;      ///< the probability that a correct sampler fails, if its chains mix well
  std::vector<std::string> names = {}; ///< of the statistics; empty: theta.1, theta.2, ...
  unsigned threads = 1; ///< that call the functions concurrently; 0: as many as there are processors
};

/// The result of Geweke's joint distribution test.
class joint_test {
public:
  struct row {
    std::string name;
    double simulated = 0, sampled = 0; ///< the mean over independent simulations, and over the chains
    double z = 0;                      ///< the difference sampled - simulated in its standard errors
    double p_value = 1;                ///< of a difference at least as large
    double effective = 0;              ///< the effective sample size of the chains
  };

  joint_test(std::vector<row> rows, double false_alarm);

  std::vector<row> const& rows() const { return rows_; }
  /// The row of a statistic. Throws inference_error for an unknown name.
  row const& operator[](std::string_view name) const {
    return rows_[calibrating::index_of_name(names(), name)];
  }
  /// Whether the test rejects no statistic, with Holm's correction.
  bool passed() const { return findings().empty(); }
  /// A sentence for each rejected statistic.
  std::vector<std::string> findings() const;

  /// A table of the statistics, and the findings below it.
  friend std::ostream& operator<<(std::ostream& out, joint_test const& t);

private:
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (row const& r : rows_) all.push_back(r.name);
    return all;
  }

  std::vector<row> rows_;
  std::vector<bool> rejected_;
};

namespace calibrating {
// `simulate` returns the statistics of a state; `run` those of the states of a chain.
joint_test compare(
    std::function<std::vector<double>(random_key const& here)> const& simulate,
    std::function<void(random_key const& here, std::span<std::vector<double>> sampled)> const& run,
    joint_test_settings const& settings, random_key const& key);
} // namespace calibrating

/// Geweke's joint distribution test (Geweke 2004, "Getting it right: joint distribution tests of posterior simulators"). A transition of
/// the parameters given the data, and new data given the parameters, leave the joint distribution of both invariant: expectations of
/// statistics over independent draws and over chains of these two steps are equal. Chains begin at draws of the joint distribution. The
/// test detects steps that are not invariant. It also rejects a correct sampler that mixes too slowly for the number of iterations, since the
/// standard error is then underestimated. It calls
///
///   draw_joint(key)                a state: parameters from the prior, and data given them,
///   transition(state&, key)        a step of the sampler under test,
///   redraw_data(state&, key)       new data given the state's parameters,
///   statistics(state)              a std::vector<double>: moments of parameters, and of parameters with data.
///
/// The standard error of a chain's mean is `mcse_mean`. Simulation i has the key key.at("joint").at(i), chain c keys below
/// key.at("chain").at(c). Throws inference_error for invalid settings, and for statistics that are not finite or of another number.
template <
    std::invocable<random_key const&> J, class T, class R,
    std::invocable<std::invoke_result_t<J const&, random_key const&> const&> F>
joint_test geweke_joint_test(
    J const& draw_joint, T const& transition, R const& redraw_data, F const& statistics,
    joint_test_settings const& settings, random_key const& key) {
  return calibrating::compare(
      [&](random_key const& here) { return statistics(draw_joint(here)); },
      [&](random_key const& here, std::span<std::vector<double>> sampled) {
        auto state = draw_joint(here.at("joint"));
        for (std::size_t i = 0; i < sampled.size(); ++i) {
          random_key const now = here.transition(i + 1);
          transition(state, now.at("transition"));
          redraw_data(state, now.at("data"));
          sampled[i] = statistics(std::as_const(state));
        }
      },
      settings, key);
}

} // namespace overdub::inference
