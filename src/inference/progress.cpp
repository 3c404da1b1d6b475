#include <overdub/inference/progress.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace overdub::inference {

static std::int64_t nanoseconds_of_steady_clock() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

progress_bar::progress_bar(std::FILE* file, bool draws)
    : file_(file), draws_(draws), begin_(nanoseconds_of_steady_clock()) {}

void progress_bar::operator()(progress const& p) {
  if (!draws_) return;
  if (p.done <= 1) begin_ = nanoseconds_of_steady_clock();
  acceptance_ += p.statistics.accept_statistic;
  ++transitions_;
  divergences_ += !p.warmup && p.statistics.divergent;
  std::int64_t const now = nanoseconds_of_steady_clock();
  if (p.done < p.all && now - drawn_ < 100'000'000) return;
  drawn_ = now;
  std::fputs(("\r" + line(p, static_cast<double>(now - begin_) * 1e-9)).c_str(), file_);
  if (p.done == p.all) std::fputc('\n', file_);
  std::fflush(file_);
}

std::string progress_bar::line(progress const& p, double seconds) const {
  constexpr std::size_t width = 30;
  std::size_t const full = p.all == 0 ? width : width * p.done / p.all;
  using io::number_text, io::right_aligned, io::decimals;
  double const a_second = static_cast<double>(p.done) / (seconds > 0 ? seconds : 1);
  return (p.warmup ? "warm-up  [" : "sampling [") + std::string(full, '#') + std::string(width - full, ' ') +
         "] " + right_aligned(number_text(p.all == 0 ? 100 : 100 * p.done / p.all), 3) + " % " +
         right_aligned(number_text(a_second, decimals(0)), 9) + "/s  acceptance " +
         number_text(acceptance_ / static_cast<double>(transitions_), decimals(2)) + "  divergences " +
         number_text(divergences_) + ' ';
}

stop_on_interrupt::stop_on_interrupt() {
  stopped().store(false);
  struct sigaction action {};
  action.sa_handler = [](int) { stopped().store(true); };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(SIGINT, &action, &before_) != 0)
    throw inference_error(message("overdub: Ctrl-C cannot be handled: %s", std::strerror(errno)));
}

} // namespace overdub::inference
