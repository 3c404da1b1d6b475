// Reaction times of people with too little sleep: similar lines, by NUTS and by moves.
#include "demo.hpp"
#include "models.hpp"
#include "updates.hpp"

#include <overdub/inference.hpp>
#include <overdub/models/mcmc.hpp>
#include <overdub/models/posterior.hpp>

#include <cstdio>
#include <string>

namespace demo {
namespace {

using od::i64;

constexpr std::size_t subjects = 18;

// A subject's measurements, and the posterior of its line.
report::plot
line_of(std::vector<std::vector<double>> const& table, std::size_t j, inference::draws const& d) {
  report::series seen{"measured", report::mark::points, {}, {}, {}, 1};
  for (std::size_t day = 0; day < 10; ++day) {
    seen.x.push_back(table[1][10 * j + day]);
    seen.y.push_back(table[2][10 * j + day]);
  }
  std::size_t const a = place_of(d, "a[1]") + j, b = place_of(d, "b[1]") + j;
  std::vector<double> const days = seen.x;
  auto series = curve(d, days, 0, [&](auto v, double day) { return v[a] + v[b] * day; });
  series.push_back(std::move(seen));
  return {
      .title = std::string("Subject ") + std::to_string(static_cast<int>(table[0][10 * j])),
      .series = std::move(series),
      .width = report::share::quarter,
      .y_shown = {180, 480}};
}

} // namespace

void fit_sleepers(settings const& s, page& to) {
  auto const table = columns_of("sleepstudy"); // subject, day, reaction
  std::vector<double> const days(table[1].begin(), table[1].begin() + 10);
  auto const m = models::model(programs_run(), sleepers, i64{subjects}, od::array<double>::copy_of(days));
  models::choice_map const seen{
      {"reaction", od::datum::of({subjects, 10}, od::array<double>::copy_of(table[2]))}};
  auto const [d, seconds_of_nuts] = timed([&] {
    return inference::sample(
        models::posterior(m, seen), {.warmup = s.of(1000),
                                     .draws = s.of(1000),
                                     .seed = 1,
                                     .adaptation = {.target_acceptance = 0.9},
                                     .on_progress = inference::progress_bar()});
  });
  inference::summary const found(d);

  using models::random_walk;
  auto const chains = models::mcmc(
      m, seen, random_walk("intercept", 5), random_walk("slope"), random_walk("sd_intercept", 5),
      random_walk("sd_slope"), random_walk("noise"), random_walk("a", 10), random_walk("b"));
  comparison const moves = compared(chains, s.of(1000), s.of(4000));
  inference::draws const& moved = moves.draws;
  inference::summary const found_by_moves(moved);

  report::section page("Sleep");
  page.say("18 people slept for three hours a night. How much slower did they react, day by day? Each has a "
           "line of their own, and "
           "lines are as alike as the data say.")
      .add(report::listing{.title = "The model", .text = source_of("sleepers")});
  page.say("Points are reaction times in ms, by days; lines and bands, from 5 to 95 %, are the lines of the "
           "people "
           "in all draws.");
  for (std::size_t j = 0; j < subjects; ++j) page.add(line_of(table, j, d));
  page.add(report::posterior{"slope, in ms a day", d.column("slope")})
      .add(report::posterior{"sd of the slopes", d.column("sd_slope")})
      .add(report::trace{"sd of the slopes, moves of one choice", moved.column("sd_slope")});
  std::vector<std::string> const names{"intercept", "slope", "sd_intercept", "sd_slope", "noise"};
  report::table both{
      .title = "The same posterior, by two samplers",
      .heads = {"variable", "NUTS: mean", "mcse", "moves: mean", "mcse"}};
  for (std::string const& name : names) {
    auto const &a = found[name], &b = found_by_moves[name];
    both.rows.push_back(
        {name, report::number_beside(a.mean, a.sd), report::number(a.mcse, 2),
         report::number_beside(b.mean, b.sd), report::number(b.mcse, 2)});
  }
  page.add(both).add(
      report::diagnostics{"Estimates, by the no-U-turn sampler", inference::summary(picked(d, names))});

  auto const t = m.generate(seen, od::random_key(1)).of;
  std::vector<update> const updates{
      {"a person's slope moves", "b"}, {"the mean slope moves", "slope"}, {"the noise moves", "noise"}};
  page.say(
          "Moves of one choice at a time ran twice, too. " + moves.sentence() +
          " A move that changes all lines computes all of them, so that little is won.")
      .add(moves.bars())
      .add(times(t, updates))
      .add(dependence(*m.core(), {"subjects", "days"}, updates[0]))
      .add(explained(t, updates[0]))
      .add(explained(t, updates[1]));
  to.document.add(page);
  count_programs("sleepers", *m.core(), to);

  auto const& slope = found["slope"];
  std::printf(
      "\nSleep, by NUTS: %zu draws in %.2f s\n"
      "  each night with too little sleep makes reactions %.0f ms slower (%.0f to %.0f)\n  %s\n"
      "  and by moves of one choice at a time: %zu draws\n",
      d.size(), seconds_of_nuts, slope.median, slope.q5, slope.q95, verdict(found).c_str(), moved.size());
  moves.print();
}

} // namespace demo
