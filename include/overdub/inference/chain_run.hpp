// Runs chains of any kind on threads, with files, progress, and errors that keep the draws. `sample` and `run_chains` are built on it.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/csv.hpp>
#include <overdub/inference/draws.hpp>
#include <overdub/inference/on_threads.hpp>
#include <overdub/inference/progress.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/version.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::inference {

/// Settings of `run_chains`, with the meaning that they have in `sampling_settings`.
struct run_settings {
  std::size_t chains = 4;
  std::size_t warmup = 1000; ///< transitions without draws
  std::size_t draws = 1000;  ///< transitions after them,
  std::size_t thin = 1;      ///< of which one in `thin` is a draw
  unsigned threads = 0;      ///< 0: as many as there are processors; at most one per chain

  /// When it becomes true, each chain stops after its transition, no further chain begins, and the draws so far are returned.
  std::atomic<bool> const* stop = nullptr;
  /// Called after each transition, by one thread at a time; a `progress_bar` is such a function.
  std::function<void(progress const&)> on_progress = {};
  /// Chain 1 is written to the file csv_1.csv as it runs, chain 2 to csv_2.csv, and so on; if it is empty, to no file. If one of these
  /// files or an unfinished ".partial" file exists, all chains are written to files with ".partial" appended to their names, which replace
  /// the old files, one after another, when the run ends without an error. All files are opened, and locked against another run, before the
  /// first chain begins. If a write fails (the disk is full), the run continues without the file.
  std::string csv = {};
};

/// Thrown if a chain ended with an error, or a file could not be written completely. The exception and the files have the draws of all
/// chains so far.
struct OVERDUB_EXPORTED sampling_error : inference_error {
  std::shared_ptr<draws const> so_far; ///< never null
  std::exception_ptr cause;            ///< the original exception, for std::rethrow_exception
  std::size_t chain;                   ///< its index, from 0; `what()` and the names of files count from 1
  /// The absolute paths of the files with the draws so far. A chain without draws has no file.
  std::vector<std::string> files;

  /// `allocation` states the purpose of the memory that could not be allocated, if `thrown` is std::bad_alloc.
  sampling_error(
      std::shared_ptr<draws const> drawn, std::exception_ptr thrown, std::size_t of,
      std::vector<std::string> written = {}, std::string const& allocation = "what was asked for");

private:
  static message text(
      std::exception_ptr const& thrown, std::size_t of, std::size_t drawn,
      std::vector<std::string> const& written, std::string const& allocation);
};

namespace running {

using io::number_text;

// The settings of a chain in CmdStan's layout. `method` has those of the adaptation and the algorithm, `rest` those outside of the method.
std::vector<csv_setting> setting_lines(
    run_settings const& s, std::uint64_t id, std::vector<csv_setting> const& method,
    std::vector<csv_setting> const& rest);

// The seed as a setting; empty if there is none.
std::vector<csv_setting> seed_lines(std::optional<std::uint64_t> seed);

// The state that chains on different threads share.
struct shared_state {
  run_settings const& settings;
  draws& result;
  std::atomic<bool> failed = false;
  std::mutex mutex = {}; // guards `done` and on_progress
  std::size_t done = 0;

  bool stopped() const;
  void notify(std::size_t chain, bool warmup, sampler_statistics const& statistics);
};

// The file of a chain. After a write error the file is not changed further, and the run continues without it.
class chain_file {
public:
  chain_file() = default;
  explicit chain_file(csv_writer writer) : writer_(std::move(writer)) {}

  template <class F>
  void write(F const& f) {
    if (!writer_ || failure_) return;
    try {
      f(*writer_);
    } catch (inference_error const&) {
      failure_ = std::current_exception();
    }
  }
  std::exception_ptr const& failure() const { return failure_; }
  bool has_draws() const { return writer_ && writer_->has_draws(); }
  std::string const& written_to() const { return writer_->written_to(); }

private:
  std::optional<csv_writer> writer_;
  std::exception_ptr failure_;
};

// The files of all chains. They replace those of an earlier run once all are written, one after another.
template <class L>
std::vector<chain_file>
open_files(run_settings const& s, L const& lines, std::vector<std::string> const& names) {
  std::vector<chain_file> files(s.chains);
  if (s.csv.empty()) return files;
  auto const path = [&](std::size_t c) { return s.csv + '_' + number_text(c + 1) + ".csv"; };
  auto how = io::writing::streamed;
  for (std::size_t c = 0; c < s.chains; ++c)
    if (io::is_there(path(c)) || io::has_unfinished(path(c))) how = io::writing::beside;
  for (std::size_t c = 0; c < s.chains; ++c)
    files[c] = chain_file(csv_writer(path(c), lines(c + 1), names, how));
  return files;
}

// The exception of a chain, and the purpose of its current allocation.
struct chain_failure {
  std::exception_ptr thrown = {};
  std::string_view allocation = {}; // the purpose of memory that the current step may allocate
  bool is_growing = false;          // the allocation is that of the chain's array of draws
};

// Runs chain c.
template <class F>
void run_chain(F const& make, std::size_t c, shared_state& shared, chain_file& file, chain_failure& failure) {
  using clock = std::chrono::steady_clock;
  if (shared.stopped()) return;
  run_settings const& s = shared.settings;
  chain_record& record = shared.result.record(c);
  auto const began = clock::now();
  failure.allocation = "the chain's beginning: what its target, metric and algorithm keep";
  auto chain = make(c);
  if (!chain.begin([&] { return shared.stopped(); })) return;

  failure.allocation = "what a transition of the warm-up asked for";
  std::uint64_t transition = 0;
  while (transition < s.warmup && !shared.stopped()) shared.notify(c, true, chain.warm_up(++transition));
  chain.warmed_up(record);
  auto const warm = clock::now();
  record.warmup_seconds = std::chrono::duration<double>(warm - began).count();
  if (transition < s.warmup) return;
  file.write([&](csv_writer& f) { f.adapted(record); });

  std::vector<double> row(shared.result.variables());
  for (std::size_t i = 0; i < s.draws && !shared.stopped(); ++i) {
    failure.allocation = "what a transition asked for";
    sampler_statistics const statistics = chain.transition(++transition);
    record.totals.add(statistics);
    if constexpr (requires { chain.undefined_point(); })
      if (statistics.undefined && record.undefined_point.empty())
        record.undefined_point = chain.undefined_point();
    record.sampling_seconds = std::chrono::duration<double>(clock::now() - warm).count();
    if (i % s.thin == 0) {
      chain.report(std::span<double>(row));
      failure.allocation = "one more draw";
      failure.is_growing = true;
      shared.result.append(c, statistics, row);
      failure.is_growing = false;
      failure.allocation = "what a file or progress asked for";
      file.write([&](csv_writer& f) { f.draw(statistics, row); });
    }
    shared.notify(c, false, statistics);
  }
  if (transition == s.warmup + s.draws) file.write([&](csv_writer& f) { f.end(record); });
}

// Returns make(). If it runs out of memory, throws an inference_error of words().
template <class F, class W>
auto with_memory(F const& make, W const& words) {
  try {
    return make();
  } catch (std::bad_alloc const&) {
  } catch (std::length_error const&) {
  }
  throw inference_error(words());
}

void check(run_settings const& s);

// Runs the chains that make(c) returns, on threads. `lines(id)` are the settings in a chain's file. A chain has `begin(stopped)`, which
// returns false if it was stopped before it began; `warm_up(t)` and `transition(t)`, which make transition t, counted from 1, and return
// its sampler_statistics; `warmed_up(record)`, which is called between the two; and `report(out)`, which writes a draw. It may have
// `undefined_point()`. Throws the exceptions of `sample`.
template <class L, class F>
draws run(run_settings const& s, std::vector<std::string> names, L const& lines, F const& make) {
  std::size_t const variables = names.size();
  draws result = with_memory(
      [&] { return draws(std::move(names), s.chains); },
      [&] {
        return message(
            "overdub: there is no memory for the records of %zu chains, and the names of %zu variables",
            s.chains, variables);
      });
  shared_state shared{s, result};
  if (shared.stopped()) return result;
  std::vector<chain_file> files = open_files(s, lines, result.names());
  std::vector<chain_failure> failures(s.chains);
  on_threads(s.threads, s.chains, [&](std::size_t c) {
    try {
      run_chain(make, c, shared, files[c], failures[c]);
    } catch (...) {
      failures[c].thrown = std::current_exception();
      shared.failed = true;
    }
  });
  auto const fail = [&](std::size_t c, std::exception_ptr const& thrown) {
    std::vector<std::string> written;
    for (chain_file const& file : files)
      if (file.has_draws()) written.push_back(file.written_to());
    std::string allocation(failures[c].allocation);
    if (failures[c].is_growing) {
      std::size_t const bytes = result.size(c) * result.variables() * sizeof(double);
      allocation += " of " + number_text(result.variables()) + " variables: its draws take " +
                    number_text(bytes >> 20) + " MiB, and twice that was asked for";
    }
    throw sampling_error(
        std::make_shared<draws const>(std::move(result)), thrown, c, std::move(written), allocation);
  };
  for (std::size_t c = 0; c < s.chains; ++c)
    if (failures[c].thrown) fail(c, failures[c].thrown);
  for (std::size_t c = 0; c < s.chains; ++c)
    if (files[c].failure()) fail(c, files[c].failure());
  // A run that was stopped before its first draw does not replace the files of an earlier run.
  if (shared.stopped() && result.size() == 0) return result;
  for (std::size_t c = 0; c < s.chains; ++c) {
    files[c].write([](csv_writer& f) { f.commit(); });
    if (files[c].failure()) fail(c, files[c].failure());
  }
  return result;
}

} // namespace running
} // namespace overdub::inference
