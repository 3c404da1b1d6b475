// Checks of samplers of a model: simulation-based calibration, and Geweke's joint distribution test of kernels.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/calibration.hpp>
#include <overdub/models/mcmc.hpp>
#include <overdub/models/model.hpp>
#include <overdub/models/moves.hpp>
#include <overdub/models/numbers.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace overdub::models {

namespace detail {

// Rejects sites that are observed in part: data are simulated by site.
void reject_partial_sites(model_core const& m, selection const& observed);

// A trace with its observed choices drawn again.
template <class Result, class... A>
trace with_new_data(
    staged_function<Result, A...> const& m, trace const& t, selection const& observed,
    random_key const& key) {
  auto const made = [&]() -> trace {
    try {
      return m.generate(t.choices(!observed), key).of;
    } catch (unmade_error const& e) {
      throw model_error(message(
          "overdub: data decide on which choices are made, and moves are tested where they do not: %.150s",
          e.what() + 9));
    }
  }();
  for (std::uint32_t s = 0; s < m.sites().size(); ++s)
    reject_unless(
        made.presence(s) == t.presence(s), m.sites()[s],
        "is observed, or depends on what is, and it is not made with all data: the moves of a model are "
        "tested where data do not decide on which choices are made");
  return made;
}

} // namespace detail

/// Simulation-based calibration of a sampler of a model, where some sites are observed. The model simulates parameters and data; the
/// parameters are all other choices, with their names in a `number_row`. It calls, concurrently on `settings.threads`,
///
///   sampler(observations, key, draws)   which returns this number of nearly independent draws, given a choice_map of observations:
///                                       inference::draws, whose variables have the parameters' names; or a
///                                       std::vector<std::vector<double>> of parameters in the order of the program.
///
/// Throws model_error for sites that are observed in part and for parameters in branches, and what simulation_based_calibration throws.
template <class Result, class... A, class S>
inference::calibration calibrate(
    staged_function<Result, A...> const& m, selection const& observed, S const& sampler,
    inference::calibration_settings settings, random_key const& key) {
  detail::reject_partial_sites(*m.core(), observed);
  for (site const& s : m.sites())
    detail::reject_unless(
        !s.is_conditional || observed.contains(s.address, {}), s,
        "is nested in a branch, and has no rank where it is not made");
  number_row const parameters(m.simulate(key.at("like")), !observed);
  if (settings.names.empty()) settings.names = parameters.names();
  using table = std::vector<std::vector<double>>;
  return inference::simulation_based_calibration(
      [&](random_key const& k) { return parameters.of(m.simulate(k)); },
      [&](std::vector<double> const& drawn, random_key const& k) {
        return m.generate(parameters.choices(drawn), k).of.choices(observed);
      },
      [&](choice_map const& data, random_key const& k, std::size_t count) -> table {
        auto drawn = sampler(data, k, count);
        if constexpr (std::convertible_to<decltype(drawn), table>)
          return drawn;
        else {
          table rows;
          for (std::string const& name : parameters.names()) {
            std::vector<double> const column = drawn.column(name).values;
            rows.resize(column.size());
            for (std::size_t i = 0; i < column.size(); ++i) rows[i].push_back(column[i]);
          }
          return rows;
        }
      },
      settings, key);
}

/// Geweke's joint distribution test of kernels of a model, where some sites are observed: the kernels, and observations that are drawn
/// again, leave the joint distribution invariant. A chain updates one Trace from its first transition to its last, so that the incremental
/// state of a trace is tested with the kernels. The statistics are each parameter, its square, and the log joint density, lp__; parameters
/// that are not made are 0. Throws model_error for sites that are observed in part and for choices in a map or loop in a branch, and what
/// geweke_joint_test throws.
template <class Trace = followed_trace, class Result, class... A, class... Moves>
inference::joint_test test_moves(
    staged_function<Result, A...> const& m, selection const& observed,
    inference::joint_test_settings settings, random_key const& key, Moves const&... moves) {
  struct state {
    Trace now;
    std::tuple<Moves...> moves;
  };
  detail::reject_partial_sites(*m.core(), observed);
  number_row const parameters(m.simulate(key.at("like")), !observed);
  if (settings.names.empty()) {
    for (std::string const& name : parameters.names()) {
      settings.names.push_back(name);
      settings.names.push_back(name + "^2");
    }
    settings.names.push_back("lp__");
  }
  return inference::geweke_joint_test(
      [&](random_key const& k) {
        return state{Trace(m.simulate(k)), {moves...}};
      },
      [](state& s, random_key const& k) {
        move_record record;
        i64 number = 0;
        std::apply([&](auto&... move) { (move(s.now, k.at(number++), record), ...); }, s.moves);
      },
      [&](state& s, random_key const& k) {
        trace const drawn = detail::with_new_data(m, s.now.as_trace(), observed, k);
        for (std::uint32_t each = 0; each < m.sites().size(); ++each)
          if (observed.contains(m.sites()[each].address, {})) s.now.set_all(each, drawn.values()[each]);
        s.now.commit();
      },
      [&](state const& s) {
        std::vector<double> row(parameters.size()), all;
        parameters.write(s.now, row, 0);
        for (double const x : row) {
          all.push_back(x);
          all.push_back(x * x);
        }
        all.push_back(s.now.score());
        return all;
      },
      settings, key);
}

} // namespace overdub::models
