// Runs chains of any kind on threads, with files, progress, and errors that keep the draws. `sample` and `run_chains` are built on it.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/csv.hpp>
#include <overdub/inference/draws.hpp>
#include <overdub/inference/progress.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
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
      std::vector<std::string> written = {}, std::string const& allocation = "its work");

private:
  static message text(
      std::exception_ptr const& thrown, std::size_t of, std::size_t drawn,
      std::vector<std::string> const& written, std::string const& allocation);
};

namespace running {

// The settings of a chain in CmdStan's layout. `method` has those of the adaptation and the algorithm, `rest` those outside of the method.
std::vector<csv_setting> setting_lines(
    run_settings const& s, std::uint64_t id, std::vector<csv_setting> const& method,
    std::vector<csv_setting> const& rest);

// The seed as a setting; empty if there is none.
std::vector<csv_setting> seed_lines(std::optional<std::uint64_t> seed);

// A chain of any kind.
class any_chain {
public:
  virtual ~any_chain() = default;
  // Returns false if it was stopped before it began.
  virtual bool begin(std::function<bool()> const& stopped) = 0;
  // Make transition t, counted from 1, in the warm-up and after it.
  virtual sampler_statistics warm_up(std::uint64_t t) = 0;
  virtual sampler_statistics transition(std::uint64_t t) = 0;
  // Called between the two.
  virtual void warmed_up(chain_record&) {}
  // Writes a draw.
  virtual void report(std::span<double> out) = 0;
  // A point whose density is undefined; null for chains that do not record it.
  virtual std::string const* undefined_point() const { return nullptr; }
};

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

// Runs the chains that make(c) returns, on threads. `lines(id)` are the settings in a chain's file. Throws the exceptions of `sample`.
draws run(
    run_settings const& s, std::vector<std::string> names,
    std::function<std::vector<csv_setting>(std::uint64_t id)> const& lines,
    std::function<std::unique_ptr<any_chain>(std::size_t c)> const& make);

} // namespace running
} // namespace overdub::inference
