// What a cache did, as a list: for tests of what is compiled when, and for people who wonder.
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
    step,        // of a compilation: staging, a context's pass, an optimisation, lowering
    stored,      // a compilation ended, and what it made is kept
    failed,      // it threw
    waited,      // for what another thread compiled
    evicted,     // there was no room
    invalidated, // what it was made of changed
    cleared
  };
  kind what;
  std::string function;
  std::string detail = {}; // the step's name, or the error
};

namespace detail {

/// The last events; some are lost where memory is. Thread-safe.
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
