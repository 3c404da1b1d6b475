// The operations that updates of a model's choices run, and their time.
#pragma once

#include "demo.hpp"

#include <overdub/inference/progress.hpp>
#include <overdub/models/mcmc.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace demo {

namespace models = overdub::models;

/// Updates of the choices of a site, one at a time.
struct update {
  std::string name; ///< "an assignment moves"
  std::string site;
};

/// Two runs of the same chains with the same random numbers: one re-executes the model for each proposal, one updates it incrementally.
struct comparison {
  inference::draws draws;
  bool same = false; /// whether both have the same draws
  std::size_t transitions = 0;
  double seconds = 0, seconds_of_all = 0, seconds_of_making = 0; /// of compiling the programs

  report::bars bars() const;
  std::string sentence() const {
    return same ? "All draws are the same, to the last bit." : "Their draws differ.";
  }
  /// Prints two lines.
  void print() const;
};
template <class Chains>
comparison compared(Chains const& chains, std::size_t warmup, std::size_t draws) {
  od::random_key const key(1);
  inference::run_settings const first{.chains = 1, .warmup = 1, .draws = 1};
  inference::run_settings run{.warmup = warmup, .draws = draws, .on_progress = inference::progress_bar()};
  auto const made = timed([&] {
    (void)inference::run_chains(chains, first, key);
    return inference::run_chains(chains.reexecuted(), first, key);
  });
  auto followed = timed([&] { return inference::run_chains(chains, run, key); });
  run.on_progress = inference::progress_bar();
  auto const whole = timed([&] { return inference::run_chains(chains.reexecuted(), run, key); });
  bool const same = same_draws(followed.first, whole.first);
  return {std::move(followed.first), same,         run.chains * (warmup + draws),
          followed.second,           whole.second, made.second};
}

/// The dependence graph of a model's log density. Each map, reduction and loop of the program is a node, and so are scalar
/// operations with the same users. The nodes that the update program runs are highlighted.
report::graph
dependence(models::model_core const& m, std::vector<std::string> const& arguments, update const& u);
/// The explanation of the update.
report::listing explained(models::trace const& t, update const& u);
/// A row of microseconds for each update: for a full re-execution, and for the update.
report::bars times(models::trace const& t, std::vector<update> const& all);
/// A row of the table of programs.
void count_programs(std::string const& name, models::model_core const& m, page& to);

} // namespace demo
