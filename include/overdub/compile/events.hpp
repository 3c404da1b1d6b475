// The event log of a cache, for tests and debugging.
#pragma once

#include <overdub/core/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace overdub {

struct compilation_event {
  enum class kind {
    step,        // a step of a compilation: staging, a context's pass, an optimisation, lowering
    stored,      // a compilation ended, and its result is stored
    failed,      // a compilation threw
    waited,      // for a compilation of another thread
    evicted,     // the cache was full
    invalidated, // a definition that it depends on changed
    cleared
  };
  kind what;
  std::string function;
  std::string detail = {}; // the step's name, or the error
};

namespace detail {

/// A ring buffer of the last events; events are lost if there is no memory. Thread-safe.
class event_log {
public:
  static constexpr std::size_t most = 4096;

  void add(compilation_event::kind what, std::string const& function, std::string const& detail = {}) noexcept
      try {
    std::lock_guard const lock(mutex_);
    if (all_.size() == most) all_.pop_front();
    all_.push_back({what, function, detail});
  } catch (std::bad_alloc const&) {
  }
  std::vector<compilation_event> all() const {
    std::lock_guard const lock(mutex_);
    return {all_.begin(), all_.end()};
  }
  void clear() {
    std::lock_guard const lock(mutex_);
    all_.clear();
  }

private:
  std::mutex mutable mutex_;
  std::deque<compilation_event> all_;
};

} // namespace detail
} // namespace overdub
