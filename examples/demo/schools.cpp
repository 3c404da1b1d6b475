// Eight schools, by NUTS.
#include "demo.hpp"
#include "models.hpp"
#include "updates.hpp"

#include <overdub/inference.hpp>
#include <overdub/models/posterior.hpp>

#include <cstdio>
#include <string>

namespace demo {

void fit_schools(settings const& s, page& to) {
  auto const table = columns_of("eight_schools"); // school, effect, error
  auto const &seen = table[1], &errors = table[2];
  auto const m = models::model(programs_run(), schools, od::array<double>::copy_of(errors));
  models::posterior const target(m, {{"y", od::array<double>::copy_of(seen)}});
  auto const [sampled, seconds] = timed([&] {
    return inference::sample(
        target, {.warmup = s.of(1000),
                 .draws = s.of(2000),
                 .seed = 1,
                 .adaptation = {.target_acceptance = 0.95},
                 .on_progress = inference::progress_bar()});
  });

  std::vector<std::string> names{"mu", "tau"};
  for (std::size_t j = 0; j < seen.size(); ++j)
    names.push_back(std::string("effect ") + static_cast<char>('A' + j));
  std::size_t const mu = place_of(sampled, "mu"), tau = place_of(sampled, "tau"),
                    eta = place_of(sampled, "eta[1]");
  auto const d = derived(sampled, names, [&](auto choices, auto out) {
    out[0] = choices[mu];
    out[1] = choices[tau];
    for (std::size_t j = 2; j < out.size(); ++j) out[j] = choices[mu] + choices[tau] * choices[eta + j - 2];
  });
  inference::summary const found(d);

  report::section page("Eight schools");
  page.say("Eight schools coached pupils for a test, and measured by how much results rose: each with an "
           "error that is as large as the "
           "effect itself. How much of a school's result is the school?")
      .add(report::listing{.title = "The model", .text = source_of("schools")});
  report::intervals effects{.title = "Effects of coaching", .x = "points"};
  for (std::size_t j = 0; j < seen.size(); ++j) {
    auto const& row = found[names[j + 2]];
    effects.rows.push_back(
        {std::string("school ") + static_cast<char>('A' + j), row.q5, row.median, row.q95, seen[j]});
  }
  page.add(effects);
  page.add(report::posterior{"mu, the mean effect", d.column("mu")})
      .add(report::posterior{"tau, how far effects lie apart", d.column("tau")})
      .add(report::trace{"tau, four chains", d.column("tau")})
      .add(report::diagnostics{"Estimates, by the no-U-turn sampler", found});
  to.document.add(page);
  to.programs.rows.push_back({"schools", std::to_string(m.core()->programs()), "0", "0"});

  auto const& a = found["effect A"];
  std::printf(
      "Eight schools, by NUTS: %zu draws in %.2f s\n"
      "  coaching in school A gave %.0f points (%.0f to %.0f), and not the %.0f that were measured\n  %s\n",
      d.size(), seconds, a.median, a.q5, a.q95, seen[0], verdict(found).c_str());
}

} // namespace demo
