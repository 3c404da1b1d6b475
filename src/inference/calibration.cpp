#include <overdub/core/floating_point.hpp>
#include <overdub/inference/calibration.hpp>
#include <overdub/inference/diagnostics.hpp>
#include <overdub/inference/on_threads.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/io/number_text.hpp>

#include <boost/math/special_functions/gamma.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <numeric>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::inference {

namespace calibrating {

std::vector<bool> holm(std::span<double const> p_values, double level) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<bool> rejected(p_values.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (!(p_values[order[k]] * static_cast<double>(order.size() - k) <= level)) break;
    rejected[order[k]] = true;
  }
  return rejected;
}

void check_level(double false_alarm) {
  if (overdub::is_nan(false_alarm) || !(false_alarm > 0 && false_alarm < 1))
    throw inference_error(message(
        "overdub: a probability of %g of a false alarm: it lies between 0 and 1, as 0.001 does",
        false_alarm));
}

std::vector<std::string> names_of(std::vector<std::string> given, std::size_t count) {
  if (given.empty())
    for (std::size_t i = 1; i <= count; ++i) given.push_back("theta." + std::to_string(i));
  if (given.size() != count)
    throw inference_error(message("overdub: %zu names for %zu numbers to check", given.size(), count));
  return given;
}

std::size_t index_of_name(std::vector<std::string> const& names, std::string_view name) {
  auto const found = std::ranges::find(names, name);
  if (found == names.end())
    throw inference_error(message(
        "overdub: nothing that was checked is called %.*s", static_cast<int>(name.size()), name.data()));
  return static_cast<std::size_t>(found - names.begin());
}

inline std::string cell(double x, io::number_form const& form) {
  return ' ' + io::right_aligned(io::number_text(x, form), 10);
}

// Writes a table with a row for each name, and the findings below it. cells(i) is the text of row i after the name.
template <class F>
void write(
    std::ostream& out, char const* head, std::vector<std::string> const& names, F const& cells,
    std::vector<std::string> const& findings) {
  std::size_t width = 0;
  for (std::string const& name : names) width = std::max(width, name.size());
  out << std::string(width, ' ') << head << '\n';
  for (std::size_t i = 0; i < names.size(); ++i)
    out << names[i] << std::string(width - names[i].size(), ' ') << cells(i) << '\n';
  for (std::string const& finding : findings) out << finding << '\n';
}

} // namespace calibrating

// ---- simulation-based calibration

calibration::calibration(
    std::vector<std::string> names, std::vector<std::vector<std::size_t>> ranks,
    calibration_settings const& settings)
    : names_(std::move(names)), ranks_(std::move(ranks)), draws_(settings.draws) {
  for (auto const& of_one : ranks_) p_values_.push_back(uniformity(of_one, settings.bins));
  rejected_ = calibrating::holm(p_values_, settings.false_alarm);
}

std::vector<std::string> calibration::findings() const {
  std::vector<std::string> all;
  for (std::size_t p = 0; p < names_.size(); ++p)
    if (rejected_[p])
      all.push_back("the draws of " + names_[p] + " are not those of the posterior: " + shape(p));
  return all;
}

std::ostream& operator<<(std::ostream& out, calibration const& c) {
  calibrating::write(
      out, "  mean rank    p-value", c.names_,
      [&](std::size_t p) {
        return calibrating::cell(0.5 + c.moments(p).first, io::decimals(3)) +
               calibrating::cell(c.p_values_[p], io::significant(3));
      },
      c.findings());
  return out;
}

double calibration::uniformity(std::vector<std::size_t> const& ranks, std::size_t bins) const {
  std::vector<double> counts(bins);
  for (std::size_t const rank : ranks) ++counts[rank * bins / (draws_ + 1)];
  double const expected = static_cast<double>(ranks.size()) / static_cast<double>(bins);
  double sum = 0;
  for (double const count : counts) sum += (count - expected) * (count - expected) / expected;
  return boost::math::gamma_q(0.5 * static_cast<double>(bins - 1), 0.5 * sum);
}

std::pair<double, double> calibration::moments(std::size_t p) const {
  double first = 0, second = 0;
  for (std::size_t const rank : ranks_[p]) {
    double const u = (static_cast<double>(rank) + 0.5) / static_cast<double>(draws_ + 1) - 0.5;
    first += u;
    second += u * u;
  }
  auto const n = static_cast<double>(ranks_[p].size());
  return {first / n, second / n};
}

std::string calibration::shape(std::size_t p) const {
  auto const [first, second] = moments(p);
  auto const n = static_cast<double>(ranks_[p].size()), all = static_cast<double>(draws_ + 1);
  double const slope = first * std::sqrt(12 * n);
  double const curvature = (second - (1 - 1 / (all * all)) / 12) * std::sqrt(180 * n);
  if (std::max(std::abs(slope), std::abs(curvature)) < 3) return "their ranks are not uniform";
  if (std::abs(slope) > std::abs(curvature))
    return slope > 0 ? "they are too low (ranks are high)" : "they are too high (ranks are low)";
  return curvature > 0 ? "they are too narrow, or depend on each other (ranks pile up at the ends)"
                       : "they are too wide (ranks pile up in the middle)";
}

// ---- the joint test

joint_test::joint_test(std::vector<row> rows, double false_alarm) : rows_(std::move(rows)) {
  std::vector<double> p_values;
  for (row const& r : rows_) p_values.push_back(r.p_value);
  rejected_ = calibrating::holm(p_values, false_alarm);
}

std::vector<std::string> joint_test::findings() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rejected_[i])
      all.push_back(
          "the sampler's " + rows_[i].name + " is too " + (rows_[i].z > 0 ? "high" : "low") + " (" +
          io::number_text(rows_[i].sampled, io::significant(4)) + " for " +
          io::number_text(rows_[i].simulated, io::significant(4)) +
          "): its transitions change the joint distribution, or mix too slowly (about " +
          io::number_text(std::round(rows_[i].effective)) +
          " effective draws): if more iterations bring the means closer, they mix slowly");
  return all;
}

std::ostream& operator<<(std::ostream& out, joint_test const& t) {
  calibrating::write(
      out, "  simulated    sampled          z    p-value", t.names(),
      [&](std::size_t i) {
        joint_test::row const& r = t.rows_[i];
        using calibrating::cell;
        return cell(r.simulated, io::significant(4)) + cell(r.sampled, io::significant(4)) +
               cell(r.z, io::decimals(2)) + cell(r.p_value, io::significant(3));
      },
      t.findings());
  return out;
}

namespace calibrating {

calibration calibrate(
    std::function<simulation(random_key const& here)> const& simulate, calibration_settings const& settings,
    random_key const& key) {
  check_level(settings.false_alarm);
  check_count("simulations", settings.simulations);
  check_count("draws", settings.draws);
  check_count("bins", settings.bins);
  check_threads(settings.threads);
  std::size_t const simulations = settings.simulations, draws = settings.draws, bins = settings.bins;
  if (bins < 2 || (draws + 1) % bins != 0)
    throw inference_error(message(
        "overdub: %zu ranks, one more than draws, in %zu bins: as many ranks are to fall into each of two "
        "bins "
        "or more",
        draws + 1, bins));
  if (simulations < 5 * bins)
    throw inference_error(message(
        "overdub: %zu simulations for %zu bins of ranks: there should be five for each, or more", simulations,
        bins));

  std::vector<std::vector<std::size_t>> by_simulation(simulations);
  on_threads(settings.threads, simulations, [&](std::size_t i) {
    random_key const here = key.at(i);
    auto const [truth, posterior] = simulate(here);
    if (posterior.size() != draws)
      throw inference_error(message(
          "overdub: simulation %zu: %zu draws were requested, and the sampler returned %zu", i, draws,
          posterior.size()));
    std::vector<std::size_t> below(truth.size()), ties(truth.size());
    for (std::vector<double> const& draw : posterior) {
      if (draw.size() != truth.size())
        throw inference_error(message(
            "overdub: simulation %zu: the sampler's draw has %zu parameters, and the prior's %zu", i,
            draw.size(), truth.size()));
      for (std::size_t p = 0; p < truth.size(); ++p) {
        if (overdub::is_nan(draw[p]) || overdub::is_nan(truth[p]))
          throw inference_error(message("overdub: simulation %zu: parameter %zu is NaN", i, p + 1));
        below[p] += draw[p] < truth[p];
        ties[p] += draw[p] == truth[p];
      }
    }
    random_generator generator(here.at("ties"));
    for (std::size_t p = 0; p < truth.size(); ++p)
      below[p] += boost::random::uniform_int_distribution<std::size_t>(0, ties[p])(generator);
    by_simulation[i] = std::move(below);
  });

  std::size_t const parameters = by_simulation.front().size();
  std::vector<std::vector<std::size_t>> ranks(parameters);
  for (auto const& one : by_simulation) {
    if (one.size() != parameters)
      throw inference_error(message(
          "overdub: the prior draws %zu parameters, and %zu at another time: calibration needs as many in "
          "each simulation",
          parameters, one.size()));
    for (std::size_t p = 0; p < parameters; ++p) ranks[p].push_back(one[p]);
  }
  return calibration(names_of(settings.names, parameters), std::move(ranks), settings);
}

joint_test compare(
    std::function<std::vector<double>(random_key const& here)> const& simulate,
    std::function<void(random_key const& here, std::span<std::vector<double>> sampled)> const& run,
    joint_test_settings const& settings, random_key const& key) {
  check_level(settings.false_alarm);
  check_count("simulations", settings.simulations);
  check_count("chains", settings.chains);
  check_count("iterations", settings.iterations);
  check_threads(settings.threads);
  if (settings.simulations < 2 || settings.chains < 1 || settings.iterations < 6)
    throw inference_error(message(
        "overdub: a joint test of %zu simulations, and %zu chains of %zu iterations: it needs 2, and 1 of 6, "
        "at "
        "least",
        settings.simulations, settings.chains, settings.iterations));
  using table = std::vector<std::vector<double>>;
  table simulated(settings.simulations), sampled(settings.chains * settings.iterations);
  on_threads(settings.threads, settings.simulations, [&](std::size_t i) {
    simulated[i] = simulate(key.at("joint").at(i));
  });
  on_threads(settings.threads, settings.chains, [&](std::size_t c) {
    run(key.at("chain").at(c), std::span(sampled).subspan(c * settings.iterations, settings.iterations));
  });

  std::size_t const count = simulated.front().size();
  std::vector<std::string> const names = names_of(settings.names, count);
  auto const column = [&](table const& from, std::size_t k) {
    std::vector<double> values;
    for (std::vector<double> const& one : from) {
      if (one.size() != count)
        throw inference_error(
            message("overdub: %zu statistics of a state, and %zu of another", count, one.size()));
      if (!overdub::is_finite(one[k]))
        throw inference_error(message(
            "overdub: the statistic %.100s is %g: the joint test needs finite ones", names[k].c_str(),
            one[k]));
      values.push_back(one[k]);
    }
    return values;
  };
  std::vector<joint_test::row> rows;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<double> const independent = column(simulated, k);
    chain_values const chains{column(sampled, k), settings.chains};
    double const error = diagnosing::varies(chains) ? mcse_mean(chains) : 0;
    double const deviation =
        diagnosing::standard_deviation(independent) / std::sqrt(static_cast<double>(independent.size()));
    joint_test::row r{
        .name = names[k],
        .simulated = diagnosing::mean(independent),
        .sampled = diagnosing::mean(chains.values)};
    double const difference = r.sampled - r.simulated;
    // A constant statistic has standard error 0, and its means differ by rounding.
    bool const is_same = std::abs(difference) <= 1e-12 * std::max(std::abs(r.simulated), std::abs(r.sampled));
    r.z = is_same ? 0 : difference / std::hypot(error, deviation);
    r.p_value = std::erfc(std::abs(r.z) / std::numbers::sqrt2);
    r.effective = diagnosing::varies(chains) ? ess_mean(chains) : static_cast<double>(chains.values.size());
    rows.push_back(std::move(r));
  }
  return joint_test(std::move(rows), settings.false_alarm);
}

} // namespace calibrating

} // namespace overdub::inference
