// The active recording of a process, which its shared objects share. Each object has its own copy of the library's
// variables, and finds the others by an ELF note in each of them, without exported symbols. Also the thread-local part of
// the recording, and its state in a child of fork.
#pragma once

#include <overdub/call/keep_loaded.hpp>
#include <overdub/contexts/trace/book.hpp>
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

/// The active recording, and the counted callees, by index.
struct recordings {
  std::mutex mutex; // protects the following members
  std::shared_ptr<book> book_;
  std::atomic<bool> goes_on{false};
  std::vector<callee_info const*> counted;
  std::atomic<pthread_t> forks{0}; // the thread that holds the mutex while it forks

  std::vector<callee_info const*> callees() {
    uninterrupted_lock const lock(mutex);
    return counted;
  }
};

/// A hash of what shared objects that record together must agree on: the version, and the sizes of shared types.
constexpr std::uint64_t layout_of_recordings() {
  std::uint64_t hash = 14695981039346656037u; // FNV-1a, by numbers
  for (std::size_t const x :
       {std::size_t{OVERDUB_VERSION_MAJOR}, std::size_t{OVERDUB_VERSION_MINOR},
        std::size_t{OVERDUB_VERSION_PATCH}, sizeof(recordings), sizeof(book), sizeof(lane),
        sizeof(std::string), sizeof(std::shared_ptr<book>)})
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
// The note has the distance from itself to that variable. Only assembler can express such a constant.
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

// Uses the recordings of another shared object, or creates them. The loader's lock, which is held while it iterates over
// objects, makes this exclusive.
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
        this_slot.at = found != nullptr ? found : new recordings; // never destroyed: threads may end last
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

// What a call reads: these two are constant-initialised.
OVERDUB_HIDDEN inline constinit ring no_ring;
OVERDUB_HIDDEN inline constinit call_counts no_counts;
OVERDUB_HIDDEN inline constinit thread_local ring* this_ring = &no_ring;
OVERDUB_HIDDEN inline constinit thread_local call_counts* this_counts = &no_counts;

/// The recording of a thread. It ends with the thread, as does `alive`.
struct thread_in_recording {
  std::shared_ptr<book> in;
  tracing::lane* lane = nullptr;
  std::shared_ptr<void> alive = std::make_shared<char>();

  OVERDUB_HIDDEN ~thread_in_recording();
  OVERDUB_HIDDEN void leave() {
    this_ring = &no_ring;
    this_counts = &no_counts;
    lane = nullptr;
    in = nullptr;
  }
};
enum class thread_phase : unsigned char {
  records, // or may
  enters,  // is finding its ring: a signal handler that interrupts it records nothing
  ended    // later calls are not recorded
};
OVERDUB_HIDDEN inline constinit thread_local thread_phase this_phase = thread_phase::records;
OVERDUB_HIDDEN inline constinit thread_local thread_in_recording* this_thread_kept = nullptr;

inline thread_in_recording::~thread_in_recording() {
  // First, since a signal handler that interrupts the rest must not enter the recording again.
  this_phase = thread_phase::ended;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  leave();
  this_thread_kept = nullptr;
}

// ---- fork

// A child of fork has one thread, no file writer, and locks in the state that other threads left them in: the parent's
// recording is neither used nor destroyed there. A child may start its own. The lock of the recordings is held during fork.
// Each shared object that records installs these handlers.
struct fork_handlers {
  OVERDUB_HIDDEN static std::unique_ptr<uninterrupted_lock>& held() {
    static std::unique_ptr<uninterrupted_lock> one;
    return one;
  }
  // Whether the forking thread drops calls meanwhile: a call by another library's handler would wait for its own thread's
  // lock.
  OVERDUB_HIDDEN static bool& drops() {
    thread_local bool one = false;
    return one;
  }
  OVERDUB_HIDDEN static void before() {
    if (this_phase == thread_phase::records) {
      this_phase = thread_phase::enters;
      drops() = true;
    }
    recordings& process = all_recordings();
    if (process.forks == pthread_self()) return; // another object's handler holds it
    auto lock = std::make_unique<uninterrupted_lock>(process.mutex);
    process.forks = pthread_self();
    held() = std::move(lock);
  }
  OVERDUB_HIDDEN static void in_parent() {
    if (std::exchange(drops(), false)) this_phase = thread_phase::records;
    if (held() == nullptr) return;
    all_recordings().forks = 0;
    auto const lock = std::move(held()); // released at the end of the scope: another thread may fork then
  }
  OVERDUB_HIDDEN static void in_child() {
    recordings& process = all_recordings();
    if (process.book_ != nullptr) {
      process.book_->abandon();
      static_cast<void>(
          new std::shared_ptr<book>(std::move(process.book_))); // leaked: its threads do not exist here
      process.goes_on = false;
    }
    if (this_thread_kept != nullptr && this_thread_kept->in != nullptr) {
      static_cast<void>(new std::shared_ptr<book>(this_thread_kept->in));
      this_thread_kept->leave();
    }
    in_parent();
  }
  /// Installs the handlers; false if that fails.
  OVERDUB_HIDDEN static bool are_there() {
    static bool const are = pthread_atfork(&before, &in_parent, &in_child) == 0;
    return are;
  }
};

// ---- finding the ring of a call

/// The calling thread's part of the active recording; null if there is none.
OVERDUB_HIDDEN inline thread_in_recording* enter_recording() {
  recordings& process = all_recordings();
  if (this_thread_kept == nullptr && !process.goes_on.load(std::memory_order_relaxed)) return nullptr;
  thread_local thread_in_recording thread;
  this_thread_kept = &thread;
  std::shared_ptr<book> now;
  if (process.goes_on.load(std::memory_order_relaxed)) {
    uninterrupted_lock const lock(process.mutex);
    now = process.book_;
  }
  if (thread.in != now) {
    thread.leave();
    if (now == nullptr) return nullptr;
    // The recording keeps addresses of names, and of functions that end this thread's part: the object must stay loaded.
    overdub::detail::keep_loaded();
    if (!fork_handlers::are_there() || (thread.lane = now->enter(thread.alive)) == nullptr) return nullptr;
    thread.in = now;
    this_ring = &thread.lane->ring;
    this_counts = &thread.lane->counts;
  }
  return now == nullptr ? nullptr : &thread;
}

// A scope in which a thread finds its ring; a signal handler that interrupts it does not.
class entering {
public:
  OVERDUB_HIDDEN entering() : is_first_(this_phase == thread_phase::records) {
    if (is_first_) this_phase = thread_phase::enters;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  entering(entering const&) = delete;
  entering& operator=(entering const&) = delete;
  OVERDUB_HIDDEN ~entering() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_first_ && this_phase == thread_phase::enters) this_phase = thread_phase::records;
  }
  explicit operator bool() const { return is_first_; }

private:
  bool is_first_;
};

/// A ring with room for a record, which the caller has begun to write; null if nothing is recorded. `held` is the ring that
/// the caller had begun to write, or null.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline ring* find_room(ring* held) {
  entering const here; // before the record ends, so that no handler writes between it and the next ones
  if (held != nullptr) held->end_write();
  if (!here) {
    if (held != nullptr) held->note_drop();
    return nullptr;
  }
  thread_in_recording* const thread = enter_recording();
  if (thread == nullptr) return nullptr;
  ring& mine = thread->lane->ring;
  if (!mine.begin_write()) { // a handler interrupts another shared object's write
    mine.note_drop();
    return nullptr;
  }
  if (mine.has_room()) return &mine;
  try {
    if (thread->in->make_room(*thread->lane)) return &mine;
  } catch (...) {
    mine.end_write();
    throw;
  }
  mine.end_write();
  if (thread->in->has_ended()) thread->leave();
  return nullptr;
}

// When `refused` does not admit a write: the thread's ring, if it had none so far; null for a handler that interrupts a
// write.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline ring* find_ring(ring& refused) {
  if (&refused == &no_ring) return find_room(nullptr);
  refused.note_drop();
  return nullptr;
}

/// The records of a call's begin or end: a signal handler that interrupts them records nothing.
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

/// Counters with one for the callee; null if nothing is recorded.
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
  if (!this_counts->has(index) && !thread->in->grow_counts(*thread->lane, index)) {
    if (thread->in->has_ended()) thread->leave();
    return nullptr;
  }
  return this_counts;
}

} // namespace overdub::contexts::tracing
