// The handlers of fork, which end the recording in the child. Not a part of the public interface.
#pragma once

#include <overdub/contexts/trace/all_recordings.hpp>
#include <overdub/contexts/trace/thread_in_recording.hpp>
#include <overdub/core/config.hpp>

#include <memory>
#include <pthread.h>
#include <utility>

namespace overdub::contexts::tracing {

/// Handlers of fork. The child has one thread, no file writer, and mutexes that other threads may have locked. Therefore it neither uses
/// nor destroys the parent's session, and may start a session of its own. The forking thread holds the mutex of the recordings during fork.
/// Each shared object that records installs these handlers.
struct fork_handlers {
  OVERDUB_HIDDEN static std::unique_ptr<uninterrupted_lock>& held() {
    static std::unique_ptr<uninterrupted_lock> lock;
    return lock;
  }
  // Whether `before` has suspended this thread's recording until the end of the fork. A traced call in another library's fork handler would
  // deadlock, since this thread holds the mutex.
  OVERDUB_HIDDEN static bool& suspended() {
    thread_local bool is = false;
    return is;
  }
  OVERDUB_HIDDEN static void before() {
    if (this_phase == thread_phase::idle) {
      this_entry = 0;
      this_phase = thread_phase::entering;
      suspended() = true;
    }
    recordings& process = all_recordings();
    if (process.forks == pthread_self()) return; // the handler of another shared object locked the mutex
    auto lock = std::make_unique<uninterrupted_lock>(process.mutex);
    process.forks = pthread_self();
    held() = std::move(lock);
  }
  OVERDUB_HIDDEN static void in_parent() {
    if (std::exchange(suspended(), false)) this_phase = thread_phase::idle;
    if (held() == nullptr) return;
    all_recordings().forks = 0;
    auto const lock = std::move(held()); // destroyed after forks = 0: another thread may fork then
  }
  // Keeps a session from being destroyed, since the child has none of its threads.
  OVERDUB_HIDDEN static void leak(std::shared_ptr<session> of_parent) {
    static_cast<void>(new std::shared_ptr<session>(std::move(of_parent)));
  }
  OVERDUB_HIDDEN static void in_child() {
    recordings& process = all_recordings();
    process.writer = 0; // a thread of the parent
    if (process.active != nullptr) {
      process.active->abandon();
      leak(std::move(process.active));
      process.is_active = false;
    }
    if (this_thread_kept != nullptr && this_thread_kept->in != nullptr) {
      leak(this_thread_kept->in);
      this_thread_kept->leave();
    }
    in_parent();
  }
  /// The first call installs the handlers. Returns whether they are installed.
  OVERDUB_HIDDEN static bool install() {
    static bool const is_installed = pthread_atfork(&before, &in_parent, &in_child) == 0;
    return is_installed;
  }
};

} // namespace overdub::contexts::tracing
