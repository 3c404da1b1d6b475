// The processor's time-stamp counter, and its conversion to nanoseconds.
#pragma once

#include <overdub/core/requirements.hpp>

#include <chrono>
#include <cstdint>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace overdub::contexts::tracing {

/// Nanoseconds of the steady clock.
inline std::uint64_t steady_nanoseconds() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// Whether the processor has an invariant counter.
inline bool has_steady_counter() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

/// Reads the counter, without waiting for preceding instructions.
[[gnu::always_inline]] inline std::uint64_t read_counter() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return steady_nanoseconds();
#endif
}

/// Converts ticks to nanoseconds since its construction. Each calibration against the steady clock applies from that time
/// on, so that converted times are continuous.
class tick_scale {
public:
  explicit tick_scale(bool counter) : counter_(counter), start_(read()), anchor_(start_.ticks) {}

  /// Calibrates. The error of the rate is that of two readings, some 50 ns, over the time since construction: wait for a
  /// few milliseconds before the first calibration.
  void calibrate() {
    instant const now = read();
    if (!counter_ || now.ticks <= start_.ticks || now.nanoseconds <= start_.nanoseconds) return;
    since_ = calibrated_ ? exact(now.ticks) : static_cast<double>(now.nanoseconds - start_.nanoseconds);
    calibrated_ = true;
    anchor_ = now.ticks;
    rate_ = static_cast<double>(now.nanoseconds - start_.nanoseconds) /
            static_cast<double>(now.ticks - start_.ticks);
  }

  /// Nanoseconds from construction to `ticks`; 0 for earlier ones.
  std::uint64_t nanoseconds(std::uint64_t ticks) const {
    double const since = exact(ticks);
    return since > 0 ? static_cast<std::uint64_t>(since) : 0;
  }

  /// The steady clock at construction, in nanoseconds.
  std::uint64_t start() const { return start_.nanoseconds; }

private:
  struct instant {
    std::uint64_t ticks, nanoseconds;
  };

  double exact(std::uint64_t ticks) const {
    return since_ + static_cast<double>(static_cast<std::int64_t>(ticks - anchor_)) * rate_;
  }

  // Reads both clocks; keeps the shortest of a few readings.
  instant read() const {
    if (!counter_) {
      std::uint64_t const now = steady_nanoseconds();
      return {now, now};
    }
    instant best{};
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < 5; ++i) {
      std::uint64_t const before = read_counter();
      std::uint64_t const now = steady_nanoseconds();
      std::uint64_t const took = read_counter() - before;
      if (took < least) {
        best = {before + took / 2, now};
        least = took;
      }
    }
    return best;
  }

  bool counter_;
  bool calibrated_ = false;
  instant start_;
  std::uint64_t anchor_; // the ticks at the last calibration
  double since_ = 0;     // nanoseconds from the start to the last calibration
  double rate_ = 1;      // nanoseconds a tick
};

} // namespace overdub::contexts::tracing
