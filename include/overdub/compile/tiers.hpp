// What runs an artifact: interpreted code first, and machine code when it has become worth it.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/header_only.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace overdub {

/// Returns when nothing is compiled in the background any more. Calls that other threads make meanwhile may begin more.
OVERDUB_DECL void wait_for_compilations();

namespace detail {

/// Runs a task on the thread that compiles in the background, after those that were given before. It may not throw. False where
/// there is no memory or no thread for it.
OVERDUB_DECL bool run_in_background(std::function<void()> task) noexcept;

/// Of a clock that only goes forward.
OVERDUB_DECL std::int64_t nanoseconds_now() noexcept;

} // namespace detail

inline namespace OVERDUB_EXECUTE_ABI {

/// The code of a program, which is replaced once by what runs faster. Threads may call it while that happens: a call runs
/// in the code that it began in. Addresses of code stay good as long as this lives.
class tiered_code {
public:
  /// The code that runs first. `direct`: whether what it is replaced by may be called without a machine.
  tiered_code(executable first, bool direct) : first_(std::move(first)), direct_(direct) {
    code_ = first_.code().get();
    if (direct_) target_ = first_.code()->target;
  }

  execute::code const& code() const { return *code_.load(std::memory_order_acquire); }
  /// A function of C++'s that runs it (execute::code::target), if there is one.
  void* target() const { return target_.load(std::memory_order_acquire); }

  /// Runs what is better from now on.
  void swap_in(std::shared_ptr<execute::code const> better) {
    better_ = std::move(better);
    code_.store(better_.get(), std::memory_order_release);
    if (direct_) target_.store(better_->target, std::memory_order_release);
  }

  /// Counts a call from its construction to the end of its scope, and the time of each sixteenth.
  class counted_call {
  public:
    explicit counted_call(tiered_code const& c)
        : code_(c), before_(code_.calls_.fetch_add(1, std::memory_order_relaxed)) {
      if (is_timed()) start_ = detail::nanoseconds_now();
    }
    counted_call(counted_call const&) = delete;
    counted_call& operator=(counted_call const&) = delete;
    /// True for one call: the one by which it became worth it.
    bool became_hot() {
      bool is_hot = before_ + 1 >= code_.hot_calls_;
      if (is_timed()) {
        std::int64_t const taken = (detail::nanoseconds_now() - start_) * period;
        std::int64_t const all = taken + code_.spent_.fetch_add(taken, std::memory_order_relaxed);
        is_hot = is_hot || all >= code_.hot_nanoseconds_;
      }
      return is_hot && code_.is_waiting_.exchange(false, std::memory_order_relaxed);
    }

  private:
    static constexpr std::int64_t period = 16;
    bool is_timed() const { return before_ % period == 0; }

    tiered_code const& code_;
    std::int64_t before_;
    std::int64_t start_ = 0;
  };

  /// Waits for calls, and tells when there were enough of them. Where nothing waits, nothing is counted.
  void wait_for_heat(std::uint32_t calls, std::int64_t nanoseconds) {
    hot_calls_ = calls;
    hot_nanoseconds_ = nanoseconds;
    is_waiting_.store(true, std::memory_order_relaxed);
  }
  bool is_waiting() const { return is_waiting_.load(std::memory_order_relaxed); }

private:
  executable first_;
  std::shared_ptr<execute::code const> better_;
  bool direct_;
  std::atomic<execute::code const*> code_{nullptr};
  std::atomic<void*> target_{nullptr};
  std::int64_t hot_calls_ = 0, hot_nanoseconds_ = 0;
  std::atomic<std::int64_t> mutable calls_{0}, spent_{0};
  std::atomic<bool> mutable is_waiting_{false};
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/compile/tiers.ipp>
#endif
