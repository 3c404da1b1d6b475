// The state of an active recording: the rings of all threads.
#pragma once

#include <overdub/contexts/trace/ring.hpp>
#include <overdub/contexts/trace/uninterrupted_lock.hpp>
#include <overdub/contexts/trace/writer.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <deque>
#include <limits>
#include <linux/futex.h>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace overdub::contexts {

/// The policy of a thread whose ring is full of records that are not in the file yet.
enum class when_full { drop_oldest, block };

namespace tracing {

/// The number of calls of each callee, on one thread.
class call_counts {
public:
  /// Whether there is a counter for the callee with this index.
  [[gnu::always_inline]] bool has(std::uint32_t index) const {
    return index < open_.load(std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void count(std::uint32_t index) {
    std::atomic<std::uint64_t>& n = counts_.load(std::memory_order_relaxed)[index];
    n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::uint64_t of(std::uint32_t index) const {
    return index < size_ ? counts_.load(std::memory_order_relaxed)[index].load(std::memory_order_relaxed) : 0;
  }
  /// Adds counters up to this index. A signal handler may call it while the thread that it interrupts counts: smaller
  /// arrays stay until the end. Sizes grow by halves, so that all arrays together are at most three times as large as the
  /// last.
  void grow(std::uint32_t index) {
    std::uint32_t const size = index + 16 + size_ / 2;
    auto larger = std::make_unique<numbers>(size);
    for (std::uint32_t i = 0; i < size_; ++i) larger->of[i] = of(i);
    larger->smaller = std::move(last_);
    last_ = std::move(larger);
    counts_.store(last_->of.get(), std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    size_ = size;
    open_.store(size, std::memory_order_relaxed);
  }
  /// Stops counting. Any thread may call it.
  void close() { open_.store(0, std::memory_order_relaxed); }
  /// The index of a callee that was never counted.
  static constexpr std::uint32_t no_number = 0xffff'ffff;

private:
  struct numbers {
    explicit numbers(std::uint32_t size) : of(new std::atomic<std::uint64_t>[size]()) {}
    std::unique_ptr<std::atomic<std::uint64_t>[]> of;
    std::unique_ptr<numbers> smaller; // the previous, smaller array
  };
  std::atomic<std::atomic<std::uint64_t>*> counts_{nullptr}; // of the newest array
  std::unique_ptr<numbers> last_;
  std::uint32_t size_ = 0;
  std::atomic<std::uint32_t> open_{0}; // the size; 0 once counting has stopped
};

/// The data of a thread in a recording; aligned to cache lines.
struct alignas(64) thread_buffer {
  thread_buffer(bool counter, traced_thread described) : ring(counter), thread(std::move(described)) {}

  tracing::ring ring;
  call_counts counts;
  traced_thread thread;
  long now = 0;                           // the system's id of the writing thread
  std::vector<std::weak_ptr<void>> parts; // the thread's data in each shared object, while it runs
  std::atomic<std::uint64_t> drained{0};  // the number of the first unread record
};

/// The shared state of a recording. Threads hold it until they end or another recording begins.
class session {
public:
  enum class retention { last_records, in_file };

  session(std::size_t records, retention retained, when_full policy)
      : records_(records), retained_(retained), policy_(policy), scale_(counter_) {}

  trace_origin origin() const {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    std::uint64_t const boot =
        static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    return {getpid(), program_invocation_short_name, boot - (steady_nanoseconds() - scale_.start())};
  }
  bool writers_wait() const { return retained_ == retention::in_file && policy_ == when_full::block; }
  /// For readers of records, one at a time.
  tick_scale& scale() { return scale_; }

  // ---- for writing threads

  /// The buffer of the calling thread, to which a shared object adds `part`: the buffer that it has through another object,
  /// that of a finished thread, or a new one. Null if the recording has ended.
  thread_buffer* enter(std::shared_ptr<void> const& part) {
    uninterrupted_lock const lock(mutex_);
    if (closed_) return nullptr;
    long const id = gettid();
    thread_buffer* free = nullptr;
    for (thread_buffer& l : buffers_) {
      std::erase_if(l.parts, [](auto const& p) { return p.expired(); });
      if (l.parts.empty())
        free = free == nullptr ? &l : free;
      else if (l.now == id) {
        l.parts.push_back(part);
        return &l;
      }
    }
    if (free == nullptr)
      free = &buffers_.emplace_back(counter_, this_thread(static_cast<std::uint32_t>(buffers_.size())));
    std::atomic_thread_fence(std::memory_order_acquire); // acquires the writes of the previous thread
    free->parts.push_back(part);
    free->now = id;
    return free;
  }

  /// Makes room in the ring of the calling thread; waits for it if the policy says so. False if the recording has ended.
  bool make_room(thread_buffer& l) {
    for (;;) {
      std::uint32_t const changes = room_changes_.load();
      {
        uninterrupted_lock const lock(mutex_);
        if (!l.ring.is_open() && !closed_) l.ring.open(records_); // not if the thread only counts
        if (closed_) return false;
        if (retained_ == retention::last_records) {
          l.ring.set_limit(ring::unlimited);
          return true;
        }
        std::uint64_t const capacity = l.ring.capacity(), part = capacity / 4;
        std::uint64_t const head = l.ring.written();
        std::uint64_t const used = head - l.drained.load(std::memory_order_relaxed);
        // Wakes the reader for each quarter of a ring, before it is full.
        if (used >= part) {
          wanted_ = true;
          wake_.notify_one();
        }
        if (policy_ == when_full::drop_oldest || used < capacity) {
          l.ring.set_limit(
              head + (policy_ == when_full::drop_oldest ? part : std::min(part, capacity - used)));
          return true;
        }
      }
      wait_for_room(changes); // without the lock: signal handlers may run meanwhile
    }
  }

  /// Makes room for the calling thread's counts. False if the recording has ended.
  bool grow_counts(thread_buffer& l, std::uint32_t index) {
    uninterrupted_lock const lock(mutex_);
    if (closed_) return false;
    l.counts.grow(index);
    return true;
  }
  bool has_ended() const { return closed_; }

  // ---- for the recording

  /// In a child of fork, locks may be held by threads that do not exist: stops using them.
  void abandon() { abandoned_ = true; }
  bool is_abandoned() const { return abandoned_; }

  void close() {
    if (abandoned_) return;
    uninterrupted_lock const lock(mutex_);
    closed_ = true;
    for (thread_buffer& l : buffers_) {
      l.ring.set_limit(0);
      l.counts.close();
    }
    wake_.notify_all();
    notify_room();
  }
  /// Waits until there is something to read, or for the given time. False if the recording has ended.
  bool wait(std::chrono::milliseconds time) {
    uninterrupted_lock lock(mutex_);
    wake_.wait_for(lock.held(), time, [&] { return wanted_ || closed_; });
    wanted_ = false;
    return !closed_;
  }
  /// Releases the records before `number`.
  void read_until(thread_buffer& l, std::uint64_t number) {
    l.drained.store(number, std::memory_order_relaxed);
    if (writers_wait()) notify_room();
  }
  std::vector<thread_buffer*> buffers() {
    std::vector<thread_buffer*> all;
    if (abandoned_) return all;
    uninterrupted_lock const lock(mutex_);
    for (thread_buffer& l : buffers_) all.push_back(&l);
    return all;
  }
  /// The buffer with this index, or null, without allocation.
  thread_buffer* buffer_at(std::size_t number) {
    uninterrupted_lock const lock(mutex_);
    return number < buffers_.size() ? &buffers_[number] : nullptr;
  }
  /// The counts of callees, by index.
  std::map<std::string, std::uint64_t> counts(std::vector<callee_info const*> const& callees) {
    std::map<std::string, std::uint64_t> sums;
    if (abandoned_) return sums;
    uninterrupted_lock const lock(mutex_);
    for (thread_buffer const& l : buffers_)
      for (std::uint32_t i = 0; i < callees.size(); ++i)
        if (std::uint64_t const n = l.counts.of(i); n > 0) sums[std::string(callees[i]->name)] += n;
    return sums;
  }

private:
  // By the system call: std::atomic's waits use tables that each shared object may have a copy of, so that a reader in
  // another object would wake no thread.
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
  void wait_for_room(std::uint32_t changes) {
    while (room_changes_.load() == changes)
      ::syscall(SYS_futex, &room_changes_, FUTEX_WAIT_PRIVATE, changes, nullptr, nullptr, 0);
  }
  void notify_room() {
    ++room_changes_;
    ::syscall(
        SYS_futex, &room_changes_, FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
  }
  static traced_thread this_thread(std::uint32_t number) {
    long const id = gettid();
    char name[64] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    // A thread has the process's name until it sets another.
    bool const named = id != getpid() && std::strncmp(name, program_invocation_short_name, 15) != 0;
    return {number, id, id == getpid() ? "main" : named ? name : "thread " + std::to_string(number + 1)};
  }

  bool const counter_ = has_steady_counter();
  std::size_t const records_;
  retention const retained_;
  when_full const policy_;
  tick_scale scale_;

  std::atomic<bool> abandoned_{false};
  std::atomic<std::uint32_t> room_changes_{0}; // how often rings were read, or the recording ended
  std::mutex mutex_;                           // protects the following members
  std::condition_variable wake_;
  bool wanted_ = false; // the reader is requested
  std::atomic<bool> closed_{false};
  std::deque<thread_buffer> buffers_;
};

} // namespace tracing
} // namespace overdub::contexts
