// sample: chains of a target on threads. What they give depends on the settings and the random streams alone, and on no thread.
#pragma once

#include <overdub/contexts/inference/adaptation.hpp>
#include <overdub/contexts/inference/csv.hpp>
#include <overdub/contexts/inference/draws.hpp>
#include <overdub/contexts/inference/hmc.hpp>
#include <overdub/contexts/inference/nuts.hpp>
#include <overdub/contexts/inference/progress.hpp>
#include <overdub/contexts/inference/streams.hpp>
#include <overdub/version.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::inference {

/// Settings of `sample`.
struct sampling_settings {
  std::size_t chains = 4;
  std::size_t warmup =
      1000; ///< iterations of adaptation, which are not kept; with 0, step size and metric stay as given here
  std::size_t draws = 1000; ///< iterations after it,
  std::size_t thin = 1;     ///< of which one in so many is kept
  std::uint64_t seed = 1;   ///< of the default streams
  unsigned threads = 0;     ///< 0: as many as there are processors; never more than chains

  /// Where each chain begins; or empty: each coordinate is drawn uniformly between minus and plus the radius, at most 100 times,
  /// until the log density and its gradient are finite.
  std::vector<std::vector<double>> initial = {};
  double initial_radius = 2;

  double step_size = 1;                    ///< the first one that is tried
  std::vector<double> inverse_metric = {}; ///< before adaptation; empty: the unit matrix
  inference::adaptation_settings adaptation = {};

  /// When it becomes true, each chain ends after its transition, no further one begins, and the draws so far are returned.
  std::atomic<bool> const* stop = nullptr;
  /// Called after each transition, by one thread at a time; a `progress_bar` is such a function.
  std::function<void(progress const&)> on_progress = {};
  /// Chain 1 is written to the file csv_1.csv as it runs, the next to csv_2.csv; none where it is empty. All are opened, and replaced,
  /// before the first chain begins. A file that can be written on no more (the disk is full) does not stop the run.
  std::string csv = {};
};

/// An algorithm of `sample`: `nuts_settings`, `hmc_settings`, or one like these.
template <class A, class T, class M>
concept sampling_algorithm = std::copyable<A> && target<T> && metric<M> &&
    std::constructible_from<typename A::template sampler<T, M>, T, M, A const&>;

namespace sampling {

inline std::string text_of(auto number) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// The settings of a chain as CmdStan writes them.
template <metric M, class A>
std::vector<csv_setting> lines_of(
    sampling_settings const& s, A const& algorithm, std::optional<std::uint64_t> seed, std::uint64_t id) {
  std::string const engine(A::name), version = text_of(OVERDUB_VERSION_MAJOR) + '.' +
                                               text_of(OVERDUB_VERSION_MINOR) + '.' +
                                               text_of(OVERDUB_VERSION_PATCH);
  std::vector<csv_setting> lines = {
      {"overdub_version", version, 0},
      {"method", "sample", 0},
      {"sample", "", 1},
      {"num_samples", text_of(s.draws), 2},
      {"num_warmup", text_of(s.warmup), 2},
      {"save_warmup", "0", 2},
      {"thin", text_of(s.thin), 2},
      {"adapt", "", 2},
      {"engaged", s.warmup > 0 ? "1" : "0", 3},
      {"gamma", text_of(s.adaptation.gamma), 3},
      {"delta", text_of(s.adaptation.target_acceptance), 3},
      {"kappa", text_of(s.adaptation.kappa), 3},
      {"t0", text_of(s.adaptation.t0), 3},
      {"init_buffer", text_of(s.adaptation.first_buffer), 3},
      {"term_buffer", text_of(s.adaptation.last_buffer), 3},
      {"window", text_of(s.adaptation.window), 3},
      {"algorithm", "hmc", 2},
      {"hmc", "", 3},
      {"engine", engine, 4},
      {engine, "", 5}};
  for (auto const& [name, value] : algorithm.parameters()) lines.push_back({name, text_of(value), 6});
  lines.push_back({"metric", std::string(M::name), 4});
  lines.push_back({"stepsize", text_of(s.step_size), 4});
  lines.push_back({"num_chains", text_of(s.chains), 2});
  lines.push_back({"id", text_of(id), 0});
  lines.push_back({"init", text_of(s.initial_radius), 0});
  if (seed) {
    lines.push_back({"random", "", 0});
    lines.push_back({"seed", text_of(*seed), 1});
  }
  return lines;
}

inline void check(sampling_settings const& s, std::size_t dimension) {
  if (s.thin == 0) throw inference_error(message("overdub: sampling thinned by 0: thin = 1 keeps each draw"));
  if (!(s.adaptation.target_acceptance > 0 && s.adaptation.target_acceptance < 1))
    throw inference_error(message(
        "overdub: a target acceptance of %g: it lies between 0 and 1, as 0.8 does",
        s.adaptation.target_acceptance));
  if (!(s.step_size > 0) || !std::isfinite(s.step_size))
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

// What chains on different threads share.
struct shared_state {
  sampling_settings const& settings;
  draws& result;
  std::atomic<bool> failed = false;
  std::mutex mutex = {}; // of what follows
  std::size_t done = 0;

  bool stopped() const {
    return failed.load(std::memory_order_relaxed) ||
           (settings.stop != nullptr && settings.stop->load(std::memory_order_relaxed));
  }
  void tell(std::size_t chain, bool warmup, sampler_statistics const& statistics) {
    if (!settings.on_progress) return;
    std::lock_guard const lock(mutex);
    settings.on_progress(
        {.chain = chain,
         .done = ++done,
         .all = settings.chains * (settings.warmup + settings.draws),
         .warmup = warmup,
         .statistics = statistics});
  }
};

// False where the run was stopped before the chain began.
template <class S, class G>
bool start(S& chain, std::size_t c, shared_state const& shared, G& generator) {
  sampling_settings const& settings = shared.settings;
  if (shared.stopped()) return false;
  if (!settings.initial.empty()) {
    if (!chain.start(settings.initial[c])) throw chain.failure();
    return true;
  }
  std::vector<double> q(chain.dimension());
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (shared.stopped()) return false;
    for (double& x : q) x = settings.initial_radius * (2 * drawing::uniform(generator) - 1);
    if (chain.start(q)) return true;
  }
  throw inference_error(message(
      "overdub: 100 initial points, drawn between %g and %g, have no finite log density and gradient; of the "
      "last, %s",
      -settings.initial_radius, settings.initial_radius, chain.failure().what() + sizeof "overdub:"));
}

// A chain's file. One that can be written on no more is left as it is, and the run goes on without it.
class chain_file {
public:
  chain_file() = default;
  explicit chain_file(csv_writer writer) : writer_(std::move(writer)) {}

  template <class F>
  void write(F const& f) {
    if (!writer_) return;
    try {
      f(*writer_);
    } catch (inference_error const&) {
      failure_ = std::current_exception();
      writer_.reset();
    }
  }
  std::exception_ptr const& failure() const { return failure_; }

private:
  std::optional<csv_writer> writer_;
  std::exception_ptr failure_;
};

template <metric M, target T, class A, random_streams R>
void run(
    T density, std::size_t c, A const& algorithm, R const& streams, shared_state& shared, chain_file& file) {
  using clock = std::chrono::steady_clock;
  using sampler = typename A::template sampler<T, M>;
  sampling_settings const& s = shared.settings;
  if (shared.stopped()) return;
  chain_record& record = shared.result.record(c);
  std::size_t const n = density.dimension();
  sampler chain(std::move(density), s.inverse_metric.empty() ? M(n) : M(n, s.inverse_metric), algorithm);
  chain.set_step_size(s.step_size);
  auto const began = clock::now();
  auto first = streams(c, 0);
  if (!start(chain, c, shared, first) || shared.stopped()) return;

  std::uint64_t transition = 0;
  if (s.warmup > 0) {
    adaptation<sampler, M> adapting(chain, s.warmup, s.adaptation);
    adapting.begin(first);
    for (std::size_t i = 0; i < s.warmup && !shared.stopped(); ++i) {
      auto generator = streams(c, ++transition);
      sampler_statistics const statistics = chain.transition(generator);
      adapting.learn(statistics.accept_statistic, generator);
      shared.tell(c, true, statistics);
    }
    adapting.finish();
  }
  auto const warm = clock::now();
  record.warmup_seconds = std::chrono::duration<double>(warm - began).count();
  record.step_size = chain.step_size();
  record.metric = M::name;
  record.inverse_metric.assign(chain.metric().inverse().begin(), chain.metric().inverse().end());
  if (transition < s.warmup) return;
  file.write([&](csv_writer& f) { f.adapted(record); });

  std::vector<double> row(shared.result.variables());
  for (std::size_t i = 0; i < s.draws && !shared.stopped(); ++i) {
    auto generator = streams(c, ++transition);
    sampler_statistics const statistics = chain.transition(generator);
    record.totals.add(statistics);
    record.sampling_seconds = std::chrono::duration<double>(clock::now() - warm).count();
    if (i % s.thin == 0) {
      if constexpr (reporting_target<T>)
        chain.density().report(chain.position(), std::span<double>(row));
      else
        std::ranges::copy(chain.position(), row.begin());
      shared.result.append(c, statistics, row);
      file.write([&](csv_writer& f) { f.draw(statistics, row); });
    }
    shared.tell(c, false, statistics);
  }
  if (transition == s.warmup + s.draws) file.write([&](csv_writer& f) { f.finish(record); });
}

// What is known to make the random numbers the same again.
template <class R>
std::optional<std::uint64_t> seed_of([[maybe_unused]] R const& streams) {
  if constexpr (std::same_as<R, mersenne_streams>)
    return streams.seed;
  else
    return std::nullopt;
}

} // namespace sampling

/// A chain ended with an error, or a file could not be written to its end. What was drawn until then, by all chains, is in it.
struct sampling_error : inference_error {
  std::shared_ptr<draws const> so_far; ///< never null
  std::exception_ptr cause;            ///< what was thrown: std::rethrow_exception throws it again
  std::size_t chain;                   ///< of which it is, from 0

  sampling_error(std::shared_ptr<draws const> drawn, std::exception_ptr thrown, std::size_t of)
      : inference_error(text(thrown, of)), so_far(std::move(drawn)), cause(std::move(thrown)), chain(of) {}

private:
  static message text(std::exception_ptr const& thrown, std::size_t of) {
    try {
      std::rethrow_exception(thrown);
    } catch (std::exception const& e) {
      std::string_view why = e.what();
      if (why.starts_with("overdub: ")) why.remove_prefix(9);
      return message("overdub: chain %zu: %.*s", of + 1, static_cast<int>(why.size()), why.data());
    } catch (...) {
      return message("overdub: chain %zu: what was thrown is no std::exception", of + 1);
    }
  }
};

/// Samples a target by chains on threads, by NUTS unless another algorithm is given, and returns the draws. Each chain has a copy of
/// the target, and takes the random numbers streams(chain, transition), chains counting from 0: the draws are the same on any
/// number of threads. Before it begins, it throws inference_error for settings that make no sense, names of variables that a file
/// cannot have, and files that cannot be opened; where the run is stopped already, it touches no file. Afterwards it throws
/// sampling_error, which has the draws: for what the target, `on_progress` or a chain that cannot begin throws, which stops the
/// other chains (of several failures, that of the first chain); and at the end of the run, if a file could not be written.
template <metric M = diagonal_metric, target T, sampling_algorithm<T, M> A, random_streams R>
draws sample(T const& density, sampling_settings const& settings, A const& algorithm, R const& streams) {
  sampling::check(settings, density.dimension());
  draws result(names_of(density), settings.chains);
  sampling::shared_state shared{settings, result};
  if (shared.stopped()) return result;
  std::vector<sampling::chain_file> files(settings.chains);
  if (!settings.csv.empty())
    for (std::size_t c = 0; c < settings.chains; ++c)
      files[c] = sampling::chain_file(csv_writer(
          settings.csv + '_' + sampling::text_of(c + 1) + ".csv",
          sampling::lines_of<M>(settings, algorithm, sampling::seed_of(streams), c + 1), result.names()));
  std::vector<std::exception_ptr> failures(settings.chains);
  std::atomic<std::size_t> next = 0;
  auto const work = [&] {
    for (std::size_t c; (c = next++) < settings.chains;) try {
        sampling::run<M>(density, c, algorithm, streams, shared, files[c]);
      } catch (...) {
        failures[c] = std::current_exception();
        shared.failed = true;
      }
  };
  std::size_t const threads = std::min<std::size_t>(
      settings.chains,
      settings.threads > 0 ? settings.threads : std::max(1U, std::thread::hardware_concurrency()));
  {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < threads) others.emplace_back(work);
    } catch (std::system_error const&) {
      // There are no more threads to be had: those that are there do it.
    }
    work();
  }
  for (std::size_t c = 0; c < settings.chains; ++c)
    if (failures[c]) throw sampling_error(std::make_shared<draws const>(std::move(result)), failures[c], c);
  for (std::size_t c = 0; c < settings.chains; ++c)
    if (files[c].failure())
      throw sampling_error(std::make_shared<draws const>(std::move(result)), files[c].failure(), c);
  return result;
}
template <metric M = diagonal_metric, target T, sampling_algorithm<T, M> A = nuts_settings>
draws sample(T const& density, sampling_settings const& settings = {}, A const& algorithm = {}) {
  return sample<M>(density, settings, algorithm, mersenne_streams{settings.seed});
}

} // namespace overdub::inference
