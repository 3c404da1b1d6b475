// The records and counters of calls: a traced call writes to the ring of its thread. Not a part of the public interface.
#pragma once

#include <overdub/call/keep_loaded.hpp>
#include <overdub/contexts/trace/all_recordings.hpp>
#include <overdub/contexts/trace/fork_handlers.hpp>
#include <overdub/contexts/trace/thread_in_recording.hpp>
#include <overdub/core/config.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <pthread.h>
#include <utility>

namespace overdub::contexts::tracing {

/// Makes the calling thread take part in the active session. Returns the thread's state; null if there is no session, or if the thread
/// writes its file. Locks the mutex of the recordings. Throws std::bad_alloc.
OVERDUB_HIDDEN inline thread_in_recording* enter_recording() {
  recordings& process = all_recordings();
  if (process.writer.load(std::memory_order_relaxed) == pthread_self()) return nullptr;
  if (this_thread_kept == nullptr && !process.is_active.load(std::memory_order_relaxed)) return nullptr;
  thread_local thread_in_recording thread;
  this_thread_kept = &thread;
  std::shared_ptr<session> now;
  if (process.is_active.load(std::memory_order_relaxed)) {
    uninterrupted_lock const lock(process.mutex);
    now = process.active;
  }
  if (thread.in != now) {
    thread.leave();
    if (now == nullptr) return nullptr;
    // The session stores addresses in this shared object: of names, and of the destructor of `thread`.
    overdub::detail::keep_loaded();
    if (!fork_handlers::install() || (thread.buffer = now->enter(thread.alive)) == nullptr) return nullptr;
    thread.in = now;
    this_ring = &thread.buffer->ring;
    this_counts = &thread.buffer->counts;
  }
  return now == nullptr ? nullptr : &thread;
}

// A scope in which this thread may enter the session, of code with a stack frame at an address. A scope in a signal handler that interrupts
// another such scope is false, and must not enter.
class entering {
public:
  OVERDUB_HIDDEN explicit entering(std::uintptr_t at) : is_first_(may_begin(at)) {
    if (is_first_) {
      this_entry = at;
      this_phase = thread_phase::entering;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  entering(entering const&) = delete;
  entering& operator=(entering const&) = delete;
  OVERDUB_HIDDEN ~entering() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_first_ && this_phase == thread_phase::entering) this_phase = thread_phase::idle;
  }
  explicit operator bool() const { return is_first_; }

private:
  OVERDUB_HIDDEN static bool may_begin(std::uintptr_t at) {
    if (this_phase != thread_phase::entering) return this_phase == thread_phase::idle;
    return this_entry != 0 && !may_have_interrupted(at, this_entry); // siglongjmp left the other scope
  }
  bool is_first_;
};

/// Ends the write on `held`, unless it is null. Begins a write on the thread's ring, makes room for a record in it, and returns the ring;
/// null if nothing is recorded. Throws std::bad_alloc.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline ring* find_room(ring* held, std::uintptr_t at) {
  // Before end_write: otherwise a signal handler could write between this record and the next.
  entering const here(at);
  if (held != nullptr) held->end_write();
  if (!here) {
    if (held != nullptr) held->note_drop();
    return nullptr;
  }
  thread_in_recording* const thread = enter_recording();
  if (thread == nullptr) return nullptr;
  ring& mine = thread->buffer->ring;
  if (!mine.begin_write(at)) { // a signal handler that interrupted a write of another shared object
    mine.note_drop();
    return nullptr;
  }
  if (mine.has_room()) return &mine;
  try {
    if (thread->in->make_room(*thread->buffer)) return &mine;
  } catch (...) {
    mine.end_write();
    throw;
  }
  mine.end_write();
  if (thread->in->has_ended()) thread->leave();
  return nullptr;
}

// Called if begin_write() of `refused` fails. If the thread has no ring yet, finds one, with a write begun. Otherwise the caller is a
// signal handler that interrupted a write: counts the dropped record, and returns null.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline ring* find_ring(ring& refused, std::uintptr_t at) {
  if (&refused == &no_ring) return find_room(nullptr, at);
  refused.note_drop();
  return nullptr;
}

/// Writes the records of the begin or end of one call. Records of signal handlers that interrupt this are dropped.
class call_records {
public:
  [[gnu::always_inline]] OVERDUB_HIDDEN call_records() : call_records(this_frame()) {}
  /// Of code with a stack frame at this address.
  [[gnu::always_inline]] OVERDUB_HIDDEN explicit call_records(std::uintptr_t at) : ring_(this_ring), at_(at) {
    if (!ring_->begin_write(at)) [[unlikely]]
      ring_ = find_ring(*ring_, at);
  }
  call_records(call_records const&) = delete;
  call_records& operator=(call_records const&) = delete;
  [[gnu::always_inline]] ~call_records() {
    if (ring_ != nullptr) ring_->end_write();
  }
  /// Writes a record of the time and `second`, if a session is active.
  [[gnu::always_inline]] void write(std::uint64_t second) {
    if (has_room()) ring_->write(ring_->now(), second);
  }
  [[gnu::always_inline]] void write(std::uint64_t first, std::uint64_t second) {
    if (has_room()) ring_->write(first, second);
  }

private:
  [[gnu::always_inline]] bool has_room() {
    if (ring_ != nullptr && !ring_->has_room()) [[unlikely]]
      ring_ = find_room(
          std::exchange(ring_, nullptr), at_); // may throw, and returns null if the session has ended
    return ring_ != nullptr;
  }
  ring* ring_;
  std::uintptr_t at_;
};

/// The thread's counters, which include one for the callee; null if nothing is recorded. Throws std::bad_alloc.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline call_counts*
find_counts(callee_info const& callee, std::atomic<std::uint32_t>& number) {
  entering const here(this_frame());
  if (!here) return nullptr;
  thread_in_recording* const thread = enter_recording();
  if (thread == nullptr) return nullptr;
  recordings& process = all_recordings();
  if (number.load(std::memory_order_relaxed) == call_counts::no_number) {
    uninterrupted_lock const lock(process.mutex);
    if (number.load(std::memory_order_relaxed) == call_counts::no_number) {
      process.counted.push_back(&callee);
      number.store(static_cast<std::uint32_t>(process.counted.size() - 1), std::memory_order_relaxed);
    }
  }
  std::uint32_t const index = number.load(std::memory_order_relaxed);
  if (!this_counts->has(index) && !thread->in->grow_counts(*thread->buffer, index)) {
    if (thread->in->has_ended()) thread->leave();
    return nullptr;
  }
  return this_counts;
}

} // namespace overdub::contexts::tracing
