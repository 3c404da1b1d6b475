// Waiting times of the Old Faithful geyser: a mixture, whose assignments are updated one at a time.
#include "demo.hpp"
#include "models.hpp"
#include "updates.hpp"

#include <overdub/inference.hpp>
#include <overdub/models/mcmc.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

namespace demo {
namespace {

using od::i64;

double density(double x, double mean, double sd) {
  double const z = (x - mean) / sd;
  return std::exp(-0.5 * z * z) / (sd * std::sqrt(2 * std::numbers::pi));
}

// A histogram of the waiting times, and the posterior of the mixture's density.
report::plot fitted(std::vector<double> const& waits, inference::draws const& d) {
  report::series steps{"measured", report::mark::band, {}, {}, {}, 4};
  constexpr double width = 3;
  for (double from = 42; from < 99; from += width) {
    auto const count = std::ranges::count_if(waits, [&](double w) { return w >= from && w < from + width; });
    double const height = static_cast<double>(count) / (width * static_cast<double>(waits.size()));
    for (double const x : {from, from + width}) {
      steps.x.push_back(x);
      steps.y.push_back(0);
      steps.high.push_back(height);
    }
  }
  std::vector<double> x;
  for (double at = 40; at <= 100; at += 0.5) x.push_back(at);
  auto curves = curve(d, x, 0, [](auto v, double at) { // share, means, sds
    return (1 - v[0]) * density(at, v[1], v[3]) + v[0] * density(at, v[2], v[4]);
  });
  curves.insert(curves.begin(), steps);
  return {
      .title = "Waiting times, and the mixture",
      .x = "minutes to the next eruption",
      .y = "density",
      .series = std::move(curves)};
}

// The durations of eruptions by assignment; durations are not observed by the model.
report::plot
kinds(std::vector<double> const& durations, std::vector<double> const& waits, std::vector<double> const& z) {
  std::vector<report::series> all{{"first kind"}, {"second kind"}, {"in doubt"}};
  for (std::size_t i = 0; i < z.size(); ++i) {
    report::series& s = all[z[i] < 0.1 ? 0 : z[i] > 0.9 ? 1 : 2];
    s.x.push_back(durations[i]);
    s.y.push_back(waits[i]);
  }
  all[2].colour = 4;
  return {
      .title = "Kinds of eruptions",
      .x = "duration in minutes, which the model has not seen",
      .y = "minutes to the next",
      .series = std::move(all)};
}

} // namespace

void fit_eruptions(settings const& s, page& to) {
  auto const table = columns_of("old_faithful"); // duration, waiting time
  auto const& waits = table[1];
  std::vector<double> const centres{55, 80};
  auto const m = models::model(
      programs_run(), eruptions, od::array<double>::copy_of(centres), static_cast<i64>(waits.size()));
  models::choice_map const seen{{"wait", od::array<double>::copy_of(waits)}};
  // The parameters, on which all assignments depend, are updated three times for each update of the assignments.
  models::gibbs const z_moves("z");
  models::random_walk const mean("mean"), sd("sd"), share("share", 0.05);
  auto const chains = models::mcmc(m, seen, z_moves, mean, sd, share, mean, sd, share, mean, sd, share);
  comparison const both = compared(chains, s.of(250), s.of(750));
  inference::draws const& all = both.draws;

  auto const d = picked(all, {"share", "mean[1]", "mean[2]", "sd[1]", "sd[2]"});
  inference::summary const found(d);
  std::vector<double> z(waits.size()); // the probability of the second kind
  std::size_t const first_z = place_of(all, "z[1]");
  for (std::size_t c = 0; c < all.chains(); ++c)
    for (std::size_t i = 0; i < all.size(c); ++i)
      for (std::size_t k = 0; k < z.size(); ++k)
        z[k] += all.values(c, i)[first_z + k] / static_cast<double>(all.size());

  auto const t = m.generate(seen, od::random_key(1)).of;
  std::vector<update> const updates{
      {"an assignment moves", "z"},
      {"a mean moves", "mean"},
      {"a spread moves", "sd"},
      {"the share moves", "share"}};
  report::section page("Old Faithful");
  page.say("The geyser waits from 40 to 100 minutes until it erupts again. Are there two kinds of eruptions? "
           "Each of the 272 has an "
           "assignment of its own, which is moved alone, given all others: 272 moves in each transition, and "
           "15 more.")
      .add(report::listing{.title = "The model", .text = source_of("eruptions")})
      .add(fitted(waits, d))
      .add(kinds(table[0], waits, z))
      .add(report::posterior{"mean[1], in minutes", d.column("mean[1]")})
      .add(report::trace{"mean[1], four chains", d.column("mean[1]")})
      .add(report::posterior{"share of the second kind", d.column("share")})
      .add(report::trace{"share, four chains", d.column("share")})
      .add(report::diagnostics{"Estimates, by moves of one choice at a time", found});
  page.say(
          "The same chains, with the same random numbers, ran twice: once the whole model for each proposal, "
          "and once what the proposal affects. " +
          both.sentence())
      .add(both.bars())
      .add(times(t, updates))
      .add(dependence(*m.core(), {"centres", "n"}, updates[0]))
      .add(dependence(*m.core(), {"centres", "n"}, updates[1]))
      .add(explained(t, updates[0]))
      .add(explained(t, updates[1]));
  to.document.add(page);
  count_programs("eruptions", *m.core(), to);

  std::printf(
      "\nOld Faithful, by moves of one choice at a time: %zu draws of %zu choices\n"
      "  eruptions of the first kind come after %.0f minutes, of the second after %.0f\n  %s\n",
      d.size(), all.variables(), found["mean[1]"].median, found["mean[2]"].median, verdict(found).c_str());
  both.print();
}

} // namespace demo
