// sample: Hamiltonian Monte Carlo chains of a target on threads. The draws depend on the settings and the random streams alone, and not on
// the number of threads.
#pragma once

#include <overdub/core/exact_math.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/core/library.hpp>
#include <overdub/inference/adaptation.hpp>
#include <overdub/inference/chain_run.hpp>
#include <overdub/inference/draws.hpp>
#include <overdub/inference/hmc.hpp>
#include <overdub/inference/nuts.hpp>
#include <overdub/inference/streams.hpp>
#include <overdub/io/number_text.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::inference {

/// Settings of `sample`.
struct sampling_settings {
  std::size_t chains = 4;
  std::size_t warmup =
      1000; ///< iterations of adaptation, without draws; with 0, step size and metric are those given here
  std::size_t draws = 1000; ///< iterations after it,
  std::size_t thin = 1;     ///< of which one in `thin` is a draw
  std::uint64_t seed = 1;   ///< of the default streams
  unsigned threads = 0;     ///< 0: as many as there are processors; at most one per chain

  /// The initial point of each chain. If it is empty, coordinates are drawn uniformly between minus and plus the radius, up to 100 times,
  /// until the log density and its gradient are finite.
  std::vector<std::vector<double>> initial = {};
  double initial_radius = 2;

  double step_size = 1;                    ///< the initial one of the search
  std::vector<double> inverse_metric = {}; ///< the initial one; empty: the identity
  inference::adaptation_settings adaptation = {};

  /// When it becomes true, each chain stops after its transition, no further chain begins, and the draws so far are returned.
  std::atomic<bool> const* stop = nullptr;
  /// Called after each transition, by one thread at a time; a `progress_bar` is such a function.
  std::function<void(progress const&)> on_progress = {};
  /// Chain 1 is written to the file csv_1.csv as it runs, chain 2 to csv_2.csv, and so on; none where it is empty. If one of these files or
  /// an unfinished ".partial" file exists, all chains are written to files with ".partial" appended to their names, which replace the old
  /// files, one after another, when the run ends without an error. All files are opened, and locked against another run, before the first
  /// chain begins. If a file cannot be written any more (the disk is full), the run goes on.
  std::string csv = {};
};

/// An algorithm of `sample`: `nuts_settings`, `hmc_settings`, or another type of this form.
template <class A, class T, class M>
concept sampling_algorithm = std::copyable<A> && target<T> && metric<M> &&
    std::constructible_from<typename A::template sampler<T, M>, T, M, A const&>;

namespace sampling {

// The settings of chains of any kind.
run_settings run_of(sampling_settings const& s);

// The settings of the adaptation and of the algorithm, in CmdStan's layout.
template <metric M, class A>
std::vector<csv_setting> setting_lines(sampling_settings const& s, A const& algorithm) {
  using io::number_text;
  std::string const engine(A::name);
  std::vector<csv_setting> lines = {
      {"adapt", "", 2},
      {"engaged", s.warmup > 0 ? "1" : "0", 3},
      {"gamma", number_text(s.adaptation.gamma), 3},
      {"delta", number_text(s.adaptation.target_acceptance), 3},
      {"kappa", number_text(s.adaptation.kappa), 3},
      {"t0", number_text(s.adaptation.t0), 3},
      {"init_buffer", number_text(s.adaptation.first_buffer), 3},
      {"term_buffer", number_text(s.adaptation.last_buffer), 3},
      {"window", number_text(s.adaptation.window), 3},
      {"algorithm", "hmc", 2},
      {"hmc", "", 3},
      {"engine", engine, 4},
      {engine, "", 5}};
  for (auto const& [name, value] : algorithm.parameters()) lines.push_back({name, number_text(value), 6});
  lines.push_back({"metric", std::string(M::name), 4});
  lines.push_back({"stepsize", number_text(s.step_size), 4});
  return lines;
}

void check(adaptation_settings const& s);

template <metric M, class A>
void check(sampling_settings const& s, A const& algorithm, std::size_t dimension) {
  check_count("the target's dimension", dimension);
  check(s.adaptation);
  if constexpr (requires { algorithm.check(); }) algorithm.check();
  if (!(s.initial_radius >= 0) || !overdub::is_finite(s.initial_radius))
    throw inference_error(
        message("overdub: initial_radius = %g: it is not negative, and finite", s.initial_radius));
  if (!s.inverse_metric.empty()) (void)M(dimension, s.inverse_metric);
  for (auto const& q : s.initial)
    for (double const x : q)
      if (!overdub::is_finite(x))
        throw inference_error(message("overdub: initial: a chain cannot begin at a coordinate of %g", x));
  if (double const a = s.adaptation.target_acceptance; overdub::is_nan(a) || !(a > 0 && a < 1))
    throw inference_error(message(
        "overdub: a target acceptance of %g: it lies between 0 and 1, as 0.8 does",
        s.adaptation.target_acceptance));
  if (!(s.step_size > 0) || !overdub::is_finite(s.step_size))
    throw inference_error(message("overdub: a step size of %g: it is positive and finite", s.step_size));
  if (s.initial.empty()) return;
  if (s.initial.size() != s.chains)
    throw inference_error(message(
        "overdub: %zu initial points for %zu chains: give each chain one, or none to any", s.initial.size(),
        s.chains));
  for (auto const& q : s.initial)
    if (q.size() != dimension)
      throw inference_error(message(
          "overdub: an initial point of %zu numbers for a target of dimension %zu", q.size(), dimension));
}

// A chain of a target, with the interface that `running::run` requires.
template <metric M, target T, class A, random_streams R>
class target_chain final : public running::any_chain {
  using sampler = typename A::template sampler<T, M>;

public:
  target_chain(
      T density, std::size_t c, sampling_settings const& settings, A const& algorithm, R const& streams)
      : settings_(settings), streams_(streams), c_(c), chain_(make(std::move(density), settings, algorithm)) {
    chain_.set_step_size(settings.step_size);
  }

  target_chain(target_chain const&) = delete; // adapting_ refers to chain_
  target_chain& operator=(target_chain const&) = delete;

  bool begin(std::function<bool()> const& stopped) override {
    auto generator = streams_(c_, 0);
    if (!start(stopped, generator) || stopped()) return false;
    if (settings_.warmup > 0)
      adapting_.emplace(chain_, settings_.warmup, settings_.adaptation).begin(generator);
    return true;
  }
  sampler_statistics warm_up(std::uint64_t t) override {
    auto generator = streams_(c_, t);
    sampler_statistics const statistics = chain_.transition(generator);
    adapting_->learn(statistics.accept_statistic, generator);
    return statistics;
  }
  void warmed_up(chain_record& record) override {
    if (adapting_) adapting_->finish();
    chain_.forget_undefined_point(); // the record counts transitions after the warm-up
    record.step_size = chain_.step_size();
    record.metric = M::name;
    record.inverse_metric.assign(chain_.metric().inverse().begin(), chain_.metric().inverse().end());
  }
  sampler_statistics transition(std::uint64_t t) override {
    auto generator = streams_(c_, t);
    return chain_.transition(generator);
  }
  std::string const* undefined_point() const override { return &chain_.undefined_point(); }
  void report(std::span<double> out) override {
    if constexpr (reporting_target<T>)
      chain_.density().report(chain_.position(), out);
    else
      std::ranges::copy(chain_.position(), out.begin());
  }

private:
  static sampler make(T density, sampling_settings const& s, A const& algorithm) {
    std::size_t const n = density.dimension();
    return sampler(std::move(density), s.inverse_metric.empty() ? M(n) : M(n, s.inverse_metric), algorithm);
  }
  // False if the run was stopped before the chain began.
  template <class F, class G>
  bool start(F const& stopped, G& generator) {
    if (stopped()) return false;
    if (!settings_.initial.empty()) {
      if (!chain_.start(settings_.initial[c_])) throw chain_.failure();
      return true;
    }
    double const radius = settings_.initial_radius;
    std::vector<double> q(chain_.dimension());
    for (int attempt = 0; attempt < 100; ++attempt) {
      if (stopped()) return false;
      for (double& x : q) x = radius * (2 * drawing::uniform(generator) - 1);
      if (chain_.start(q)) return true;
    }
    throw inference_error(message(
        "overdub: 100 initial points, drawn between %g and %g, have no finite log density and gradient; of "
        "the "
        "last, %s",
        -radius, radius, chain_.failure().what() + sizeof "overdub:"));
  }

  sampling_settings const& settings_;
  R const& streams_;
  std::size_t c_;
  sampler chain_;
  std::optional<adaptation<sampler, M>> adapting_;
};

// The seed of the streams, if they have one.
template <class R>
std::optional<std::uint64_t> seed_of([[maybe_unused]] R const& streams) {
  if constexpr (std::same_as<R, mersenne_streams>)
    return streams.seed;
  else
    return std::nullopt;
}

} // namespace sampling

/// Samples a target by chains on threads, and returns the draws. The default algorithm is NUTS. Each chain has a copy of the target, and
/// uses the random numbers streams(chain, transition), where chains count from 0: the draws are the same on any number of threads. Throws
/// inference_error before the first chain begins, for invalid settings, names of variables that a file cannot have, and files that cannot
/// be opened. Throws sampling_error, which has the draws, where the target, `on_progress` or a chain's start throws, which stops the other
/// chains (of several failures, that of the first chain); and at the end of the run, if a file could not be written. A run that is stopped
/// before it begins touches no file.
template <metric M = diagonal_metric, target T, sampling_algorithm<T, M> A, random_streams R>
draws sample(T const& density, sampling_settings const& settings, A const& algorithm, R const& streams) {
  run_settings const run = sampling::run_of(settings);
  running::check(run);
  sampling::check<M>(settings, algorithm, density.dimension());
  return running::run(
      run,
      running::with_memory(
          [&] { return names_of(density); },
          [&] {
            return message(
                "overdub: there is no memory for the names of a target of dimension %zu",
                std::size_t{density.dimension()});
          }),
      [&](std::uint64_t id) {
        auto rest = running::seed_lines(sampling::seed_of(streams));
        rest.insert(rest.begin(), {"init", io::number_text(settings.initial_radius), 0});
        return running::setting_lines(run, id, sampling::setting_lines<M>(settings, algorithm), rest);
      },
      [&](std::size_t c) {
        return std::make_unique<sampling::target_chain<M, T, A, R>>(density, c, settings, algorithm, streams);
      });
}
template <metric M = diagonal_metric, target T, sampling_algorithm<T, M> A = nuts_settings>
draws sample(T const& density, sampling_settings const& settings = {}, A const& algorithm = {}) {
  return sample<M>(density, settings, algorithm, mersenne_streams{settings.seed});
}

} // namespace overdub::inference
