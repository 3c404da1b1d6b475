// What runs of chains share, whatever a chain is: threads, files, progress, and errors that keep the draws. `sample` and `run_chains`
// are made of it.
#pragma once

#include <overdub/contexts/inference/csv.hpp>
#include <overdub/contexts/inference/draws.hpp>
#include <overdub/contexts/inference/on_threads.hpp>
#include <overdub/contexts/inference/progress.hpp>
#include <overdub/version.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
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
#include <utility>
#include <vector>

namespace overdub::inference {

/// Settings of `run_chains`, which mean what they mean in `sampling_settings`.
struct run_settings {
  std::size_t chains = 4;
  std::size_t warmup = 1000; ///< transitions that are not kept
  std::size_t draws = 1000;  ///< transitions after them,
  std::size_t thin = 1;      ///< of which one in so many is kept
  unsigned threads = 0;      ///< 0: as many as there are processors; never more than chains

  /// When it becomes true, each chain ends after its transition, no further one begins, and the draws so far are returned.
  std::atomic<bool> const* stop = nullptr;
  /// Called after each transition, by one thread at a time; a `progress_bar` is such a function.
  std::function<void(progress const&)> on_progress = {};
  /// Chain 1 is written to the file csv_1.csv as it runs, the next to csv_2.csv; none where it is empty. All are opened, and replaced,
  /// before the first chain begins. A file that can be written on no more (the disk is full) does not stop the run.
  std::string csv = {};
};

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

namespace running {

inline std::string text_of(auto number) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// The settings of a chain as CmdStan writes them: `method` are those of its adaptation and algorithm, `rest` whatever is no setting of
// the method.
inline std::vector<csv_setting> lines_of(
    run_settings const& s, std::uint64_t id, std::vector<csv_setting> const& method,
    std::vector<csv_setting> const& rest) {
  std::vector<csv_setting> lines = {
      {"overdub_version",
       text_of(OVERDUB_VERSION_MAJOR) + '.' + text_of(OVERDUB_VERSION_MINOR) + '.' +
           text_of(OVERDUB_VERSION_PATCH),
       0},
      {"method", "sample", 0},
      {"sample", "", 1},
      {"num_samples", text_of(s.draws), 2},
      {"num_warmup", text_of(s.warmup), 2},
      {"save_warmup", "0", 2},
      {"thin", text_of(s.thin), 2}};
  lines.insert(lines.end(), method.begin(), method.end());
  lines.push_back({"num_chains", text_of(s.chains), 2});
  lines.push_back({"id", text_of(id), 0});
  lines.insert(lines.end(), rest.begin(), rest.end());
  return lines;
}

// What makes the random numbers the same again, where it is known.
inline std::vector<csv_setting> seed_lines(std::optional<std::uint64_t> seed) {
  if (!seed) return {};
  return {{"random", "", 0}, {"seed", text_of(*seed), 1}};
}

// What chains on different threads share.
struct shared_state {
  run_settings const& settings;
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

// Chain c, from its beginning to its end.
template <class F>
void run_chain(F const& make, std::size_t c, shared_state& shared, chain_file& file) {
  using clock = std::chrono::steady_clock;
  if (shared.stopped()) return;
  run_settings const& s = shared.settings;
  chain_record& record = shared.result.record(c);
  auto const began = clock::now();
  auto chain = make(c);
  if (!chain.begin([&] { return shared.stopped(); })) return;

  std::uint64_t transition = 0;
  while (transition < s.warmup && !shared.stopped()) shared.tell(c, true, chain.warm_up(++transition));
  chain.warmed_up(record);
  auto const warm = clock::now();
  record.warmup_seconds = std::chrono::duration<double>(warm - began).count();
  if (transition < s.warmup) return;
  file.write([&](csv_writer& f) { f.adapted(record); });

  std::vector<double> row(shared.result.variables());
  for (std::size_t i = 0; i < s.draws && !shared.stopped(); ++i) {
    sampler_statistics const statistics = chain.transition(++transition);
    record.totals.add(statistics);
    if constexpr (requires { chain.undefined_point(); })
      if (statistics.undefined && record.undefined_point.empty())
        record.undefined_point = chain.undefined_point();
    record.sampling_seconds = std::chrono::duration<double>(clock::now() - warm).count();
    if (i % s.thin == 0) {
      chain.report(std::span<double>(row));
      shared.result.append(c, statistics, row);
      file.write([&](csv_writer& f) { f.draw(statistics, row); });
    }
    shared.tell(c, false, statistics);
  }
  if (transition == s.warmup + s.draws) file.write([&](csv_writer& f) { f.finish(record); });
}

inline void check(run_settings const& s) {
  if (s.thin == 0) throw inference_error(message("overdub: sampling thinned by 0: thin = 1 keeps each draw"));
}

// Runs the chains that make(c) returns, on threads; `lines(id)` are the settings in a chain's file. A chain has `begin(stopped)`, which
// is false where it was stopped before it began; `warm_up(t)` and `transition(t)`, which make transition t, counted from 1, and
// return its sampler_statistics; `warmed_up(record)` between the two; and `report(out)` of what is kept; it may have
// `undefined_point()`. Errors are those of `sample`.
template <class L, class F>
draws run(run_settings const& s, std::vector<std::string> names, L const& lines, F const& make) {
  draws result(std::move(names), s.chains);
  shared_state shared{s, result};
  if (shared.stopped()) return result;
  std::vector<chain_file> files(s.chains);
  if (!s.csv.empty())
    for (std::size_t c = 0; c < s.chains; ++c)
      files[c] = chain_file(csv_writer(s.csv + '_' + text_of(c + 1) + ".csv", lines(c + 1), result.names()));
  std::vector<std::exception_ptr> failures(s.chains);
  on_threads(s.threads, s.chains, [&](std::size_t c) {
    try {
      run_chain(make, c, shared, files[c]);
    } catch (...) {
      failures[c] = std::current_exception();
      shared.failed = true;
    }
  });
  for (std::size_t c = 0; c < s.chains; ++c)
    if (failures[c]) throw sampling_error(std::make_shared<draws const>(std::move(result)), failures[c], c);
  for (std::size_t c = 0; c < s.chains; ++c)
    if (files[c].failure())
      throw sampling_error(std::make_shared<draws const>(std::move(result)), files[c].failure(), c);
  return result;
}

} // namespace running
} // namespace overdub::inference
