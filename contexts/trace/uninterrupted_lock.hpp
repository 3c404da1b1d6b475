// A lock for functions that signal handlers may call.
#pragma once

#include <overdub/call/blocked_signals.hpp>

#include <mutex>

namespace overdub::contexts::tracing {

/// Holds a mutex, and blocks signals, for a scope: a handler that needs the same mutex would deadlock with the code that it
/// interrupted. Two system calls.
class uninterrupted_lock {
  overdub::detail::blocked_signals signals_;
  std::unique_lock<std::mutex> held_;

public:
  explicit uninterrupted_lock(std::mutex& m) : held_(m) {}
  /// For a condition variable, on a thread that handles no signals: a handler may run while it waits.
  std::unique_lock<std::mutex>& held() { return held_; }
};

} // namespace overdub::contexts::tracing
