// Progress of a run: a progress bar on a terminal; and a flag that Ctrl-C sets, to stop a run and keep its draws.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/hamiltonian.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/io/number_text.hpp>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace overdub::inference {

/// The progress of a run, passed to `on_progress` after each transition of any chain, by one thread at a time.
struct progress {
  std::size_t chain = 0;                ///< that made the transition, from 0
  std::size_t done = 0, all = 0;        ///< transitions, of all chains
  bool warmup = false;                  ///< the transition is one of the warm-up
  sampler_statistics const& statistics; ///< of the transition
};

/// A progress bar with the transitions per second, the mean acceptance statistic and the divergences after the warm-up. It is redrawn ten
/// times per second if the file is a terminal, and not drawn otherwise.
class progress_bar {
public:
  explicit progress_bar(std::FILE* file = stderr) : progress_bar(file, ::isatty(::fileno(file)) == 1) {}
  /// Draws, or does not, on any file.
  progress_bar(std::FILE* file, bool draws);

  void operator()(progress const& p);

private:
  std::string line(progress const& p, double seconds) const;

  std::FILE* file_;
  bool draws_;
  std::int64_t begin_, drawn_ = 0; // of the steady clock, in nanoseconds
  double acceptance_ = 0;
  std::size_t transitions_ = 0, divergences_ = 0;
};

/// During its lifetime, Ctrl-C (SIGINT) sets `flag()`, and a second Ctrl-C ends the program as usual. One object at a time in a process.
class stop_on_interrupt {
public:
  stop_on_interrupt();
  ~stop_on_interrupt() { ::sigaction(SIGINT, &before_, nullptr); }
  stop_on_interrupt(stop_on_interrupt const&) = delete;
  stop_on_interrupt& operator=(stop_on_interrupt const&) = delete;

  std::atomic<bool> const& flag() const { return stopped(); }

private:
  OVERDUB_HIDDEN static std::atomic<bool>& stopped() {
    static std::atomic<bool> set = false;
    static_assert(std::atomic<bool>::is_always_lock_free);
    return set;
  }
  struct sigaction before_ {};
};

} // namespace overdub::inference
