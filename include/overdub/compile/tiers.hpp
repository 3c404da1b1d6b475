// Tiered execution: interpreted code at first, and machine code when the program is hot.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/core/library.hpp>
#include <overdub/execute/interpreter.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace overdub {

/// Waits until no background compilation is queued or runs, also of those that start meanwhile; not while the process exits.
void wait_for_compilations();

namespace detail {

/// Queues a task, which must not throw, for the background thread; at exit, drops it. Returns false if there is no memory or no thread.
bool run_in_background(std::function<void()> task) noexcept;

/// The time of a monotonic clock, in nanoseconds.
std::int64_t nanoseconds_now() noexcept;

} // namespace detail

/// The code of a program, which may be replaced once by faster code. Several threads may run the code during a replacement; a running
/// call is not switched to the new code. References to both codes are valid as long as this object.
class tiered_code {
public:
  /// Starts with the given code. `direct`: whether callers may use `target()`, since the program needs no contexts at run time, and no
  /// machine of the interpreter.
  tiered_code(executable first, bool direct) : first_(std::move(first)), direct_(direct) {
    code_ = first_.code().get();
    if (direct_) target_ = first_.code()->target;
  }

  execute::code const& code() const { return *code_.load(std::memory_order_acquire); }
  /// The address of the code as a C++ function, or null if it has none.
  void* target() const { return target_.load(std::memory_order_acquire); }

  /// Replaces the code by faster code. Called at most once.
  void swap_in(std::shared_ptr<execute::code const> better) {
    better_ = std::move(better);
    code_.store(better_.get(), std::memory_order_release);
    if (direct_) target_.store(better_->target, std::memory_order_release);
  }

  /// Counts a call, from the constructor to `became_hot`. Every sixteenth call is timed, and stands for sixteen.
  class counted_call {
  public:
    explicit counted_call(tiered_code const& c)
        : code_(c), before_(code_.calls_.fetch_add(1, std::memory_order_relaxed)) {
      if (is_timed()) start_ = detail::nanoseconds_now();
    }
    counted_call(counted_call const&) = delete;
    counted_call& operator=(counted_call const&) = delete;
    /// Called once, after the call. Returns true for one call: the first that finds a limit reached.
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

  /// Sets the limits of calls and of time at which the program is hot, and starts the counting. Called before the object is shared.
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

} // namespace overdub
