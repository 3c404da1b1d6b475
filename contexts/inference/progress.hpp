// What one sees of a long run: a bar on a terminal; and a flag that Ctrl-C sets, so that the draws so far are kept.
#pragma once

#include <overdub/contexts/inference/hamiltonian.hpp>
#include <overdub/contexts/inference/target.hpp>
#include <overdub/io/number_text.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

namespace overdub::inference {

/// Where a run is: told after each transition of any chain, by one thread at a time.
struct progress {
  std::size_t chain = 0;                ///< which made a transition, from 0
  std::size_t done = 0, all = 0;        ///< transitions, of all chains
  bool warmup = false;                  ///< the transition is one of the warm-up
  sampler_statistics const& statistics; ///< of the transition
};

/// A bar with the part that is done, the transitions a second, the mean acceptance and the divergences after the warm-up. It is
/// drawn ten times a second, over itself, where the file is a terminal, and not at all elsewhere.
class progress_bar {
public:
  explicit progress_bar(std::FILE* file = stderr) : progress_bar(file, ::isatty(::fileno(file)) == 1) {}
  /// Draws, or not, whatever the file is.
  progress_bar(std::FILE* file, bool draws) : file_(file), draws_(draws), begin_(clock::now()) {}

  void operator()(progress const& p) {
    if (!draws_) return;
    if (p.done <= 1) begin_ = clock::now();
    acceptance_ += p.statistics.accept_statistic;
    ++seen_;
    divergences_ += !p.warmup && p.statistics.divergent;
    auto const now = clock::now();
    if (p.done < p.all && now - drawn_ < std::chrono::milliseconds(100)) return;
    drawn_ = now;
    std::fputs(("\r" + line(p, std::chrono::duration<double>(now - begin_).count())).c_str(), file_);
    if (p.done == p.all) std::fputc('\n', file_);
    std::fflush(file_);
  }

private:
  using clock = std::chrono::steady_clock;

  std::string line(progress const& p, double seconds) const {
    constexpr std::size_t width = 30;
    std::size_t const full = p.all == 0 ? width : width * p.done / p.all;
    using io::number_text, io::right_aligned, io::decimals;
    double const a_second = static_cast<double>(p.done) / (seconds > 0 ? seconds : 1);
    return (p.warmup ? "warm-up  [" : "sampling [") + std::string(full, '#') +
           std::string(width - full, ' ') + "] " +
           right_aligned(number_text(p.all == 0 ? 100 : 100 * p.done / p.all), 3) + " % " +
           right_aligned(number_text(a_second, decimals(0)), 9) + "/s  acceptance " +
           number_text(acceptance_ / static_cast<double>(seen_), decimals(2)) + "  divergences " +
           number_text(divergences_) + ' ';
  }

  std::FILE* file_;
  bool draws_;
  clock::time_point begin_, drawn_{};
  double acceptance_ = 0;
  std::size_t seen_ = 0, divergences_ = 0;
};

/// While it lives, Ctrl-C (SIGINT) sets `flag()`, and a second one ends the program as usual. One at a time in a process.
class stop_on_interrupt {
public:
  stop_on_interrupt() {
    stopped().store(false);
    struct sigaction action {};
    action.sa_handler = [](int) { stopped().store(true); };
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    ::sigemptyset(&action.sa_mask);
    if (::sigaction(SIGINT, &action, &before_) != 0)
      throw inference_error(message("overdub: Ctrl-C cannot be handled: %s", std::strerror(errno)));
  }
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
