// A lock for what signal handlers may call.
#pragma once

#include <overdub/call/blocked_signals.hpp>

#include <mutex>

namespace overdub::contexts::tracing {

/// Holds a mutex in a scope, in which no signal handler interrupts the thread: a handler that needs the same mutex would wait for the
/// code that it interrupted, without end. Two calls of the system.
class uninterrupted_lock {
  overdub::detail::blocked_signals signals_;
  std::unique_lock<std::mutex> held_;

public:
  explicit uninterrupted_lock(std::mutex& m) : held_(m) {}
  /// For a condition variable, on a thread that handles no signals: a handler may run while it waits.
  std::unique_lock<std::mutex>& held() { return held_; }
};

} // namespace overdub::contexts::tracing
