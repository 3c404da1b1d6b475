// The rings of all threads, while a recording goes on; and how a thread finds its own.
#pragma once

#include <overdub/contexts/trace/ring.hpp>
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
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace overdub::contexts {

/// What a thread does where its ring is full of records that are not in the file yet.
enum class when_full { drop_oldest, block };

namespace tracing {

/// How often callees were called, on one thread.
class call_counts {
public:
  /// Whether calls of the callee with this number may be counted.
  [[gnu::always_inline]] bool has(std::uint32_t index) const {
    return index < open_.load(std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void count(std::uint32_t index) {
    std::atomic<std::uint64_t>& n = counts_[index];
    n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::uint64_t of(std::uint32_t index) const {
    return index < size_ ? counts_[index].load(std::memory_order_relaxed) : 0;
  }
  void grow(std::uint32_t size) {
    std::unique_ptr<std::atomic<std::uint64_t>[]> larger(new std::atomic<std::uint64_t>[size]());
    for (std::uint32_t i = 0; i < size_; ++i) larger[i] = of(i);
    counts_ = std::move(larger);
    size_ = size;
    open_.store(size, std::memory_order_relaxed);
  }
  /// Nothing more is counted. Any thread may say so.
  void close() { open_.store(0, std::memory_order_relaxed); }

private:
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts_;
  std::uint32_t size_ = 0;
  std::atomic<std::uint32_t> open_{0}; // the size, until nothing is counted
};

/// What a thread has in a recording; in cache lines of its own.
struct alignas(64) lane {
  lane(bool counter, traced_thread described, std::shared_ptr<void> const& of)
      : ring(counter), thread(std::move(described)), owner(of) {}

  tracing::ring ring;
  call_counts counts;
  traced_thread thread;
  std::weak_ptr<void> owner;             // the thread, while it runs
  std::atomic<std::uint64_t> drained{0}; // the number of the first record that nobody has read
};

/// Callees that were counted, by the numbers that they got then.
class counted_callees {
public:
  std::uint32_t number(callee_info const& callee, std::atomic<std::uint32_t>& number) {
    std::scoped_lock const lock(mutex_);
    if (number.load(std::memory_order_relaxed) == none) {
      number.store(static_cast<std::uint32_t>(callees_.size()), std::memory_order_relaxed);
      callees_.push_back(&callee);
    }
    return number.load(std::memory_order_relaxed);
  }
  std::vector<callee_info const*> all() const {
    std::scoped_lock const lock(mutex_);
    return callees_;
  }
  static constexpr std::uint32_t none = 0xffff'ffff;

private:
  mutable std::mutex mutex_;
  std::vector<callee_info const*> callees_;
};
inline counted_callees counted;

/// All that a recording knows. Threads keep it until they end or another recording begins.
class book {
public:
  enum class kept { last_records, in_file };

  book(std::size_t records, kept keeps, when_full policy)
      : records_(records), keeps_(keeps), policy_(policy), scale_(counter_) {}

  trace_origin origin() const {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    std::uint64_t const boot =
        static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    return {getpid(), program_invocation_short_name, boot - (steady_nanoseconds() - scale_.start())};
  }
  bool writers_wait() const { return keeps_ == kept::in_file && policy_ == when_full::block; }
  /// For readers of records, one at a time.
  tick_scale& scale() { return scale_; }

  // ---- for the threads that write

  /// The lane of the thread that `owner` stands for: that of a thread which has ended, or a new one.
  lane* enter(std::shared_ptr<void> const& owner) {
    std::scoped_lock const lock(mutex_);
    if (closed_) return nullptr;
    for (lane& l : lanes_)
      if (l.owner.expired()) {
        std::atomic_thread_fence(std::memory_order_acquire); // all that the thread wrote is seen
        l.owner = owner;
        return &l;
      }
    auto const number = static_cast<std::uint32_t>(lanes_.size());
    lanes_.emplace_back(counter_, this_thread(number), owner);
    return &lanes_.back();
  }

  /// Makes room in the ring of the calling thread; waits for it where the policy says so. False when the recording has ended.
  bool make_room(lane& l) {
    std::unique_lock lock(mutex_);
    if (!l.ring.is_open() && !closed_) l.ring.open(records_); // not for what only counts
    std::uint64_t const capacity = l.ring.capacity(), part = capacity / 4;
    for (;;) {
      if (closed_) return false;
      if (keeps_ == kept::last_records) {
        l.ring.set_limit(ring::unlimited);
        return true;
      }
      std::uint64_t const head = l.ring.written();
      std::uint64_t const used = head - l.drained.load(std::memory_order_relaxed);
      // The reader hears of each quarter of a ring, so that it does not come too late.
      if (used >= part) {
        wanted_ = true;
        wake_.notify_one();
      }
      if (policy_ == when_full::drop_oldest || used < capacity) {
        l.ring.set_limit(head + (policy_ == when_full::drop_oldest ? part : std::min(part, capacity - used)));
        return true;
      }
      room_.wait(lock);
    }
  }

  /// Makes the calling thread's counts large enough. False when the recording has ended.
  bool grow_counts(lane& l, std::uint32_t index) {
    std::scoped_lock const lock(mutex_);
    if (!closed_) l.counts.grow(index + 16);
    return !closed_;
  }

  // ---- for the recording

  void close() {
    std::scoped_lock const lock(mutex_);
    closed_ = true;
    for (lane& l : lanes_) {
      l.ring.set_limit(0);
      l.counts.close();
    }
    wake_.notify_all();
    room_.notify_all();
  }
  /// Waits until something is to be read, or the time is over. False when the recording has ended.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, time, [&] { return wanted_ || closed_; });
    wanted_ = false;
    return !closed_;
  }
  /// The records up to `number` need not be kept.
  void read_until(lane& l, std::uint64_t number) {
    l.drained.store(number, std::memory_order_relaxed);
    if (writers_wait()) {
      std::scoped_lock const lock(mutex_);
      room_.notify_all();
    }
  }
  std::vector<lane*> lanes() {
    std::scoped_lock const lock(mutex_);
    std::vector<lane*> all;
    for (lane& l : lanes_) all.push_back(&l);
    return all;
  }
  /// The lane of a number, or null: for who must not allocate.
  lane* lane_at(std::size_t number) {
    std::scoped_lock const lock(mutex_);
    return number < lanes_.size() ? &lanes_[number] : nullptr;
  }
  std::map<std::string, std::uint64_t> counts() {
    std::map<std::string, std::uint64_t> sums;
    std::vector<callee_info const*> const callees = counted.all();
    std::scoped_lock const lock(mutex_);
    for (lane const& l : lanes_)
      for (std::uint32_t i = 0; i < callees.size(); ++i)
        if (std::uint64_t const n = l.counts.of(i); n > 0) sums[std::string(callees[i]->name)] += n;
    return sums;
  }

private:
  static traced_thread this_thread(std::uint32_t number) {
    long const id = gettid();
    char name[64] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    // Threads have the process's name until they get another.
    bool const named = id != getpid() && std::strncmp(name, program_invocation_short_name, 15) != 0;
    return {number, id, id == getpid() ? "main" : named ? name : "thread " + std::to_string(number + 1)};
  }

  bool const counter_ = has_steady_counter();
  std::size_t const records_;
  kept const keeps_;
  when_full const policy_;
  tick_scale scale_;

  std::mutex mutex_; // of what follows
  std::condition_variable wake_, room_;
  bool wanted_ = false; // the reader is
  bool closed_ = false;
  std::deque<lane> lanes_;
};

// ---- where calls find them

/// The recording that goes on.
struct current_book {
  std::mutex mutex;
  std::shared_ptr<book> book_;
  std::atomic<bool> goes_on{false};

  std::shared_ptr<book> get() {
    if (!goes_on.load(std::memory_order_relaxed)) return nullptr;
    std::scoped_lock const lock(mutex);
    return book_;
  }
};
inline current_book recording_now;

// What a call reads of its thread: these two, which are there from the thread's start.
inline constinit ring no_ring;
inline constinit call_counts no_counts;
inline constinit thread_local ring* this_ring = &no_ring;
inline constinit thread_local call_counts* this_counts = &no_counts;

// Set when the thread has left, so that what is called after that is not recorded.
inline constinit thread_local bool this_thread_ends = false;

/// What a thread keeps of the recording. It ends with the thread, and so does `alive`.
struct thread_in_recording {
  std::shared_ptr<book> in;
  tracing::lane* lane = nullptr;
  std::shared_ptr<void> alive = std::make_shared<char>();

  ~thread_in_recording() {
    leave();
    this_thread_ends = true;
  }
  void leave() {
    this_ring = &no_ring;
    this_counts = &no_counts;
    lane = nullptr;
    in = nullptr;
  }
};

/// The calling thread's lane in the recording that goes on; null where none does.
inline thread_in_recording* enter_recording() {
  if (this_thread_ends) return nullptr;
  thread_local thread_in_recording thread;
  std::shared_ptr<book> const now = recording_now.get();
  if (thread.in != now) {
    thread.leave();
    if (now == nullptr || (thread.lane = now->enter(thread.alive)) == nullptr) return nullptr;
    thread.in = now;
    this_ring = &thread.lane->ring;
    this_counts = &thread.lane->counts;
  }
  return now == nullptr ? nullptr : &thread;
}

/// A ring with room for a record; null where nothing is recorded.
[[gnu::cold, gnu::noinline]] inline ring* find_room() {
  thread_in_recording* const thread = enter_recording();
  if (thread == nullptr) return nullptr;
  if (!this_ring->has_room() && !thread->in->make_room(*thread->lane)) {
    thread->leave();
    return nullptr;
  }
  return this_ring;
}

/// Counts that have a number for the callee; null where nothing is recorded.
[[gnu::cold, gnu::noinline]] inline call_counts*
find_counts(callee_info const& callee, std::atomic<std::uint32_t>& number) {
  thread_in_recording* const thread = enter_recording();
  if (thread == nullptr) return nullptr;
  std::uint32_t const index = counted.number(callee, number);
  if (!this_counts->has(index) && !thread->in->grow_counts(*thread->lane, index)) {
    thread->leave();
    return nullptr;
  }
  return this_counts;
}

} // namespace tracing
} // namespace overdub::contexts
