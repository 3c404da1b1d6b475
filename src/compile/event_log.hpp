// The events that a cache remembers.
#pragma once

#include <overdub/compile/events.hpp>

#include <cstddef>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace overdub::detail {

/// The last events; some are lost where memory is. Thread-safe.
class event_log {
public:
  static constexpr std::size_t maximum = 4096;

  void add(compilation_event::kind what, std::string const& function, std::string const& detail = {}) noexcept
      try {
    std::lock_guard const lock(mutex_);
    if (all_.size() == maximum) all_.pop_front();
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

} // namespace overdub::detail
