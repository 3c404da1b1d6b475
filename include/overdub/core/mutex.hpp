// A mutex, as std::mutex: <mutex> also includes <chrono>, three thousand lines in each unit.
#pragma once

#include <overdub/core/requirements.hpp>

#include <pthread.h>

namespace overdub::detail {

class mutex {
public:
  mutex() = default;
  mutex(mutex const&) = delete;
  mutex& operator=(mutex const&) = delete;
  ~mutex() { pthread_mutex_destroy(&mutex_); }

  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds a mutex from its construction to its destruction.
class mutex_lock {
public:
  explicit mutex_lock(mutex& m) noexcept : mutex_(m) { mutex_.lock(); }
  mutex_lock(mutex_lock const&) = delete;
  mutex_lock& operator=(mutex_lock const&) = delete;
  ~mutex_lock() { mutex_.unlock(); }

private:
  mutex& mutex_;
};

} // namespace overdub::detail
