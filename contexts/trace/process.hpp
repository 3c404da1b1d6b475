// The recording of a process: the session that is active, the buffers of this thread, and the handlers of fork. All shared objects that
// include overdub record into one session. Each has its own copy of the variables of this header, and finds those of the others by an ELF
// note, so that no symbol needs to be exported. Not a part of the public interface.
#pragma once

#include <overdub/call/keep_loaded.hpp>
#include <overdub/contexts/trace/session.hpp>
#include <overdub/core/config.hpp>
#include <overdub/version.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <link.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <utility>
#include <vector>

namespace overdub::contexts::tracing {

/// The active session of the process, and the callees that have a counter, whose index is the position in `counted`.
struct recordings {
  std::mutex mutex; // protects `active` and `counted`
  std::shared_ptr<session> active;
  std::atomic<bool> is_active{false};
  std::vector<callee_info const*> counted;
  std::atomic<pthread_t> forks{0}; // the thread that holds the mutex during its fork; 0, if none does

  std::vector<callee_info const*> callees() {
    uninterrupted_lock const lock(mutex);
    return counted;
  }
};

/// A hash of the version and of the sizes of shared types. Objects record together only if their hashes are equal.
constexpr std::uint64_t layout_of_recordings() {
  std::uint64_t hash = 14695981039346656037u; // FNV-1a, by numbers
  for (std::size_t const x :
       {std::size_t{OVERDUB_VERSION_MAJOR}, std::size_t{OVERDUB_VERSION_MINOR},
        std::size_t{OVERDUB_VERSION_PATCH}, sizeof(recordings), sizeof(session), sizeof(thread_buffer),
        sizeof(std::string), sizeof(std::shared_ptr<session>)})
    hash = (hash ^ x) * 1099511628211u;
#if defined(_LIBCPP_VERSION)
  hash ^= 1;
#endif
  return hash;
}

/// The variable of a shared object that refers to the process's recordings; null until it is used.
struct recordings_slot {
  std::uint64_t layout;
  std::atomic<recordings*> at;
};
[[gnu::used]] OVERDUB_HIDDEN inline constinit recordings_slot this_slot asm("overdub_recordings"){
    layout_of_recordings(), nullptr};
// The note has the distance from itself to that variable: a constant that can be written only in assembly.
asm(".pushsection .note.overdub, \"a\", @note\n"
    ".balign 4\n"
    ".long 8, 4, 1\n" // the sizes of name and content, the note's type
    ".asciz \"overdub\"\n"
    ".long overdub_recordings - .\n"
    ".popsection\n");

// Calls f(slot) for the slots in a shared object's notes.
template <class F>
void for_each_slot(dl_phdr_info const& object, F const& f) {
  struct note {
    std::uint32_t name_size, size, type;
    char name[8];
    std::int32_t distance;
  };
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    auto const& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    std::uintptr_t const alignment = segment.p_align == 8 ? 8 : 4;
    auto const aligned = [&](std::uintptr_t size) { return (size + alignment - 1) / alignment * alignment; };
    std::uintptr_t at = object.dlpi_addr + segment.p_vaddr, end = at + segment.p_memsz;
    while (at + offsetof(note, name) <= end) {
      auto const& n = *reinterpret_cast<note const*>(at);
      if (n.name_size == sizeof n.name && n.size == sizeof n.distance && at + sizeof n <= end &&
          std::memcmp(n.name, "overdub", sizeof n.name) == 0)
        f(*reinterpret_cast<recordings_slot*>(
            reinterpret_cast<std::uintptr_t>(&n.distance) +
            static_cast<std::uintptr_t>(std::intptr_t{n.distance})));
      at += aligned(offsetof(note, name) + n.name_size) + aligned(n.size);
    }
  }
}

// Uses the recordings of another shared object, or creates them. Both run under the dynamic loader's lock, which serialises concurrent
// callers.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline recordings& find_recordings() {
  dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void*) {
        if (this_slot.at.load() != nullptr) return 1;
        recordings* found = nullptr;
        dl_iterate_phdr(
            [](dl_phdr_info* object, std::size_t, void* out) {
              for_each_slot(*object, [&](recordings_slot& slot) {
                recordings* const there =
                    slot.layout == this_slot.layout ? slot.at.load(std::memory_order_acquire) : nullptr;
                if (there != nullptr) *static_cast<recordings**>(out) = there;
              });
              return 0;
            },
            &found);
        this_slot.at =
            found != nullptr
                ? found
                : new recordings; // never destroyed: threads may use it after static destructors have run
        return 1;
      },
      nullptr);
  return *this_slot.at.load();
}

/// The recordings of the process.
OVERDUB_HIDDEN inline recordings& all_recordings() {
  recordings* const known = this_slot.at.load(std::memory_order_acquire);
  return known != nullptr ? *known : find_recordings();
}

// ---- thread-local data, in each shared object

// Read by each call. Constant-initialised, so that access needs no guard.
OVERDUB_HIDDEN inline constinit ring no_ring;
OVERDUB_HIDDEN inline constinit call_counts no_counts;
OVERDUB_HIDDEN inline constinit thread_local ring* this_ring = &no_ring;
OVERDUB_HIDDEN inline constinit thread_local call_counts* this_counts = &no_counts;

/// A thread's part of the active session, in this shared object. It is destroyed when the thread ends: `alive` then expires, and the session
/// may give the buffer to another thread.
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
OVERDUB_HIDDEN inline constinit thread_local thread_in_recording* this_thread_kept = nullptr;

inline thread_in_recording::~thread_in_recording() {
  // First, since a signal handler that interrupts the rest must not enter the session again.
  this_phase = thread_phase::ended;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  leave();
  this_thread_kept = nullptr;
}

// ---- fork

// A child of fork has one thread, no file writer, and locks in the state in which other threads left them: the parent's session is neither
// used nor destroyed there. A child may start its own. The lock of the recordings is held during fork. Each shared object that records
// installs these handlers.
struct fork_handlers {
  OVERDUB_HIDDEN static std::unique_ptr<uninterrupted_lock>& held() {
    static std::unique_ptr<uninterrupted_lock> lock;
    return lock;
  }
  // Whether this thread records nothing until its fork ends. Otherwise a traced call in another library's fork handler would deadlock, since
  // this thread holds the mutex.
  OVERDUB_HIDDEN static bool& suspended() {
    thread_local bool is = false;
    return is;
  }
  OVERDUB_HIDDEN static void before() {
    if (this_phase == thread_phase::idle) {
      this_phase = thread_phase::entering;
      suspended() = true;
    }
    recordings& process = all_recordings();
    if (process.forks == pthread_self()) return; // another object's handler holds it
    auto lock = std::make_unique<uninterrupted_lock>(process.mutex);
    process.forks = pthread_self();
    held() = std::move(lock);
  }
  OVERDUB_HIDDEN static void in_parent() {
    if (std::exchange(suspended(), false)) this_phase = thread_phase::idle;
    if (held() == nullptr) return;
    all_recordings().forks = 0;
    auto const lock = std::move(held()); // released at the end of the scope: another thread may fork then
  }
  // A session whose threads do not exist in the child is never destroyed there.
  OVERDUB_HIDDEN static void leak(std::shared_ptr<session> of_parent) {
    static_cast<void>(new std::shared_ptr<session>(std::move(of_parent)));
  }
  OVERDUB_HIDDEN static void in_child() {
    recordings& process = all_recordings();
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
  /// Installs the handlers, in the first call. Returns whether they are installed.
  OVERDUB_HIDDEN static bool install() {
    static bool const is_installed = pthread_atfork(&before, &in_parent, &in_child) == 0;
    return is_installed;
  }
};

// ---- finding the ring of a call

/// The calling thread's part of the active session; null if there is none. Locks, and may allocate: throws std::bad_alloc.
OVERDUB_HIDDEN inline thread_in_recording* enter_recording() {
  recordings& process = all_recordings();
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
    // The session keeps addresses in this object: of names, and of the destructor of `thread`.
    overdub::detail::keep_loaded();
    if (!fork_handlers::install() || (thread.buffer = now->enter(thread.alive)) == nullptr) return nullptr;
    thread.in = now;
    this_ring = &thread.buffer->ring;
    this_counts = &thread.buffer->counts;
  }
  return now == nullptr ? nullptr : &thread;
}

// A scope in which this thread enters the session. It is false in a signal handler that interrupts such a scope, which must not enter.
class entering {
public:
  OVERDUB_HIDDEN entering() : is_first_(this_phase == thread_phase::idle) {
    if (is_first_) this_phase = thread_phase::entering;
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
  bool is_first_;
};

/// Returns the thread's ring, with room for a record and a write begun, or null, if nothing is recorded. Ends the write on `held`, if that is
/// not null. Throws std::bad_alloc.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline ring* find_room(ring* held) {
  entering const
      here; // before end_write: otherwise a signal handler could write between this record and the next
  if (held != nullptr) held->end_write();
  if (!here) {
    if (held != nullptr) held->note_drop();
    return nullptr;
  }
  thread_in_recording* const thread = enter_recording();
  if (thread == nullptr) return nullptr;
  ring& mine = thread->buffer->ring;
  if (!mine.begin_write()) { // this is a signal handler, which interrupted a write of another shared object
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

// Called if `refused` does not begin a write. If the thread has no ring yet, finds one. Otherwise this is a signal handler that interrupted a
// write: counts the dropped record, and returns null.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline ring* find_ring(ring& refused) {
  if (&refused == &no_ring) return find_room(nullptr);
  refused.note_drop();
  return nullptr;
}

/// Writes the records of the begin or end of one call. Calls of signal handlers that interrupt it are dropped.
class call_records {
public:
  [[gnu::always_inline]] OVERDUB_HIDDEN call_records() : ring_(this_ring) {
    if (!ring_->begin_write()) [[unlikely]]
      ring_ = find_ring(*ring_);
  }
  call_records(call_records const&) = delete;
  call_records& operator=(call_records const&) = delete;
  [[gnu::always_inline]] ~call_records() {
    if (ring_ != nullptr) ring_->end_write();
  }
  /// Writes the time and `second`; nothing if nothing is recorded.
  [[gnu::always_inline]] void write(std::uint64_t second) {
    if (has_room()) ring_->write(ring_->now(), second);
  }
  [[gnu::always_inline]] void write(std::uint64_t first, std::uint64_t second) {
    if (has_room()) ring_->write(first, second);
  }

private:
  [[gnu::always_inline]] bool has_room() {
    if (ring_ != nullptr && !ring_->has_room()) [[unlikely]]
      ring_ = find_room(std::exchange(ring_, nullptr)); // it may throw, and may have ended the recording
    return ring_ != nullptr;
  }
  ring* ring_;
};

/// The thread's counters, grown to include one for the callee; null if nothing is recorded. Throws std::bad_alloc.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline call_counts*
find_counts(callee_info const& callee, std::atomic<std::uint32_t>& number) {
  entering const here;
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
