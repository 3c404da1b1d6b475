// The thread-local data of a recording: each shared object has its own. Not a part of the public interface.
#pragma once

#include <overdub/contexts/trace/session.hpp>
#include <overdub/core/config.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace overdub::contexts::tracing {

// Each traced call reads these variables. They are constant-initialised, so that access needs no guard.
OVERDUB_HIDDEN inline constinit ring no_ring;
OVERDUB_HIDDEN inline constinit call_counts no_counts;
OVERDUB_HIDDEN inline constinit thread_local ring* this_ring = &no_ring;
OVERDUB_HIDDEN inline constinit thread_local call_counts* this_counts = &no_counts;

/// The state of a thread that takes part in a session. It is destroyed when the thread ends: `alive` then expires, and the session may
/// assign the buffer to another thread.
struct thread_in_recording {
  std::shared_ptr<session> in;
  tracing::thread_buffer* buffer = nullptr;
  std::shared_ptr<void> alive = std::make_shared<char>();

  OVERDUB_HIDDEN ~thread_in_recording();
  OVERDUB_HIDDEN void leave() {
    this_ring = &no_ring;
    this_counts = &no_counts;
    buffer = nullptr;
    in = nullptr;
  }
};
enum class thread_phase : unsigned char {
  idle,     // calls are recorded
  entering, // in find_room or find_counts: calls of signal handlers are dropped
  ended     // later calls are not recorded
};
OVERDUB_HIDDEN inline constinit thread_local thread_phase this_phase = thread_phase::idle;
// Where the phase `entering` began: an address in the stack; 0 if it begins and ends in different functions.
OVERDUB_HIDDEN inline constinit thread_local std::uintptr_t this_entry = 0;
OVERDUB_HIDDEN inline constinit thread_local thread_in_recording* this_thread_kept = nullptr;

inline thread_in_recording::~thread_in_recording() {
  // This assignment is first, since a signal handler that interrupts the others must not enter the session again.
  this_phase = thread_phase::ended;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  leave();
  this_thread_kept = nullptr;
}

} // namespace overdub::contexts::tracing
