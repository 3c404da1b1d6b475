// What runs of chains share, whatever a chain is: threads, files, progress, and errors that keep the draws. `sample` and `run_chains`
// are made of it.
#pragma once

#include <overdub/contexts/inference/csv.hpp>
#include <overdub/contexts/inference/draws.hpp>
#include <overdub/contexts/inference/on_threads.hpp>
#include <overdub/contexts/inference/progress.hpp>
#include <overdub/header_only.hpp>
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
  /// Chain 1 is written to the file csv_1.csv as it runs, the next to csv_2.csv; none where it is empty. Where one of them is there, all
  /// are written beside their names, with ".partial" behind, and replace the files, one after another, when the run has ended without an error.
  /// So they are where an unfinished file is beside one of the names. All are opened, and locked against another run, before the first
  /// chain begins. A file that can be written on no more (the disk is full) does not stop the run.
  std::string csv = {};
};

/// A chain ended with an error, or a file could not be written to its end. What was drawn until then, by all chains, is in it, and in
/// files, if the run had any.
struct OVERDUB_EXPORTED sampling_error : inference_error {
  std::shared_ptr<draws const> so_far; ///< never null
  std::exception_ptr cause;            ///< what was thrown: std::rethrow_exception throws it again
  std::size_t chain; ///< of which it is, counted from 0: `what()` and the names of files count from 1
  /// The files that have the draws so far, by their absolute paths; of a chain without draws there is none.
  std::vector<std::string> files;

  /// `asked` says, of std::bad_alloc, what there was no memory for.
  sampling_error(
      std::shared_ptr<draws const> drawn, std::exception_ptr thrown, std::size_t of,
      std::vector<std::string> written = {}, std::string const& asked = "what was asked for");

private:
  static message text(
      std::exception_ptr const& thrown, std::size_t of, std::size_t drawn,
      std::vector<std::string> const& written, std::string const& asked);
};

namespace running {

using io::number_text;

// The settings of a chain as CmdStan writes them: `method` are those of its adaptation and algorithm, `rest` whatever is no setting of
// the method.
OVERDUB_DECL std::vector<csv_setting> lines_of(
    run_settings const& s, std::uint64_t id, std::vector<csv_setting> const& method,
    std::vector<csv_setting> const& rest);

// What makes the random numbers the same again, where it is known.
OVERDUB_DECL std::vector<csv_setting> seed_lines(std::optional<std::uint64_t> seed);

// What chains on different threads share.
struct shared_state {
  run_settings const& settings;
  draws& result;
  std::atomic<bool> failed = false;
  std::mutex mutex = {}; // of what follows
  std::size_t done = 0;

  bool stopped() const;
  void tell(std::size_t chain, bool warmup, sampler_statistics const& statistics);
};

// A chain's file. One that can be written on no more is left as it is, and the run goes on without it.
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

// What a chain threw, and what it did then.
struct chain_failure {
  std::exception_ptr thrown = {};
  std::string_view asked = {}; // for which it may need memory
  bool is_growing = false;     // it is the chain's array of draws
};

// Chain c, from its beginning to its end.
template <class F>
void run_chain(F const& make, std::size_t c, shared_state& shared, chain_file& file, chain_failure& failure) {
  using clock = std::chrono::steady_clock;
  if (shared.stopped()) return;
  run_settings const& s = shared.settings;
  chain_record& record = shared.result.record(c);
  auto const began = clock::now();
  failure.asked = "the chain's beginning: what its target, metric and algorithm keep";
  auto chain = make(c);
  if (!chain.begin([&] { return shared.stopped(); })) return;

  failure.asked = "what a transition of the warm-up asked for";
  std::uint64_t transition = 0;
  while (transition < s.warmup && !shared.stopped()) shared.tell(c, true, chain.warm_up(++transition));
  chain.warmed_up(record);
  auto const warm = clock::now();
  record.warmup_seconds = std::chrono::duration<double>(warm - began).count();
  if (transition < s.warmup) return;
  file.write([&](csv_writer& f) { f.adapted(record); });

  std::vector<double> row(shared.result.variables());
  for (std::size_t i = 0; i < s.draws && !shared.stopped(); ++i) {
    failure.asked = "what a transition asked for";
    sampler_statistics const statistics = chain.transition(++transition);
    record.totals.add(statistics);
    if constexpr (requires { chain.undefined_point(); })
      if (statistics.undefined && record.undefined_point.empty())
        record.undefined_point = chain.undefined_point();
    record.sampling_seconds = std::chrono::duration<double>(clock::now() - warm).count();
    if (i % s.thin == 0) {
      chain.report(std::span<double>(row));
      failure.asked = "one more draw";
      failure.is_growing = true;
      shared.result.append(c, statistics, row);
      failure.is_growing = false;
      failure.asked = "what a file or progress asked for";
      file.write([&](csv_writer& f) { f.draw(statistics, row); });
    }
    shared.tell(c, false, statistics);
  }
  if (transition == s.warmup + s.draws) file.write([&](csv_writer& f) { f.end(record); });
}

// What make() returns; where there is no memory for it, throws inference_error with the words.
template <class F, class W>
auto with_memory(F const& make, W const& words) {
  try {
    return make();
  } catch (std::bad_alloc const&) {
  } catch (std::length_error const&) {
  }
  throw inference_error(words());
}

OVERDUB_DECL void check(run_settings const& s);

// Runs the chains that make(c) returns, on threads; `lines(id)` are the settings in a chain's file. A chain has `begin(stopped)`, which
// is false where it was stopped before it began; `warm_up(t)` and `transition(t)`, which make transition t, counted from 1, and
// return its sampler_statistics; `warmed_up(record)` between the two; and `report(out)` of what is kept; it may have
// `undefined_point()`. Errors are those of `sample`.
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
    std::string asked(failures[c].asked);
    if (failures[c].is_growing) {
      std::size_t const bytes = result.size(c) * result.variables() * sizeof(double);
      asked += " of " + number_text(result.variables()) + " variables: its draws take " +
               number_text(bytes >> 20) + " MiB, and twice that was asked for";
    }
    throw sampling_error(
        std::make_shared<draws const>(std::move(result)), thrown, c, std::move(written), asked);
  };
  for (std::size_t c = 0; c < s.chains; ++c)
    if (failures[c].thrown) fail(c, failures[c].thrown);
  for (std::size_t c = 0; c < s.chains; ++c)
    if (files[c].failure()) fail(c, files[c].failure());
  // Of a run that was stopped before its first draw, files of an earlier one stay.
  if (shared.stopped() && result.size() == 0) return result;
  for (std::size_t c = 0; c < s.chains; ++c) {
    files[c].write([](csv_writer& f) { f.commit(); });
    if (files[c].failure()) fail(c, files[c].failure());
  }
  return result;
}

} // namespace running
} // namespace overdub::inference

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/inference/chain_run.ipp>
#endif
