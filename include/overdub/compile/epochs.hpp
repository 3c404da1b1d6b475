// Epoch-based memory reclamation (K. Fraser, Practical lock-freedom, 2004). Readers never wait. A writer retires the object that it
// replaced; a later `retire` releases it when no reader can access it.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/core/mutex.hpp>
#include <overdub/core/requirements.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <sched.h>
#include <utility>
#include <vector>

namespace overdub::detail {

/// A singleton. Thread-safe.
class epochs {
  // The record of a thread; a record without a thread is reused by the next thread.
  struct reader {
    std::atomic<std::uint64_t> since{0}; // the epoch in which it began to read; 0: not reading
    std::atomic<bool> is_taken{true};
    std::uint32_t depth = 0; // of nested critical sections
    reader* next = nullptr;
  };

public:
  /// A read-side critical section. An object loaded in it from an atomic pointer stays alive until its end, if its writers retire it.
  class reading {
  public:
    OVERDUB_HIDDEN reading() : reader_(is_ending() ? *the().take() : mine()), is_given_back_(is_ending()) {
      if (reader_.depth++ == 0) reader_.since.store(the().now_.load());
    }
    reading(reading const&) = delete;
    reading& operator=(reading const&) = delete;
    OVERDUB_HIDDEN ~reading() {
      if (--reader_.depth == 0) reader_.since.store(0, std::memory_order_release);
      if (is_given_back_) reader_.is_taken.store(false, std::memory_order_release);
    }

  private:
    reader& reader_;
    bool is_given_back_; // taken for this section alone: the thread is ending, and has released its own
  };

  /// Retires an object that was replaced by a sequentially consistent store before the call. The reference is released in this or a later
  /// call, when no reader can access it. Without memory for it, waits for all readers: not in a `reading`. O(threads + retired objects).
  OVERDUB_HIDDEN static void retire(std::shared_ptr<void const> old) noexcept { the().add(std::move(old)); }

private:
  OVERDUB_HIDDEN static epochs& the() {
    static auto& one = *new epochs; // never destroyed: threads may read until the end
    return one;
  }

  void add(std::shared_ptr<void const> old) noexcept {
    std::uint64_t const epoch = now_.fetch_add(1);
    std::vector<waiting> free; // destroyed without the lock
    try {
      mutex_lock const lock(mutex_);
      waiting_.reserve(waiting_.size() + 1);
      free.reserve(waiting_.size() + 1);
      waiting_.push_back({epoch, std::move(old)});
      std::uint64_t const oldest = oldest_reader();
      std::size_t kept = 0;
      for (waiting& w : waiting_)
        if (w.epoch < oldest)
          free.push_back(std::move(w));
        else
          std::swap(waiting_[kept++], w);
      waiting_.resize(kept);
    } catch (std::bad_alloc const&) {
      while (oldest_reader() <= epoch) sched_yield();
    }
  }
  std::uint64_t oldest_reader() const {
    std::uint64_t oldest = ~std::uint64_t{0};
    for (reader* r = readers_.load(); r != nullptr; r = r->next)
      if (std::uint64_t const since = r->since.load(); since != 0 && since < oldest) oldest = since;
    return oldest;
  }

  OVERDUB_HIDDEN static bool& is_ending() {
    thread_local bool flag = false;
    return flag;
  }
  // The record of this thread, which is released when the thread ends.
  OVERDUB_HIDDEN static reader& mine() {
    struct owner {
      reader* r;
      explicit owner(reader* taken) : r(taken) {}
      owner(owner const&) = delete;
      owner& operator=(owner const&) = delete;
      ~owner() {
        is_ending() = true;
        r->is_taken.store(false, std::memory_order_release);
      }
    };
    thread_local owner const mine(the().take());
    return *mine.r;
  }
  reader* take() {
    for (reader* r = readers_.load(); r != nullptr; r = r->next) {
      bool free = false;
      if (r->is_taken.compare_exchange_strong(free, true)) return r;
    }
    auto* const made = new reader; // never freed; reused by later threads
    made->next = readers_.load();
    while (!readers_.compare_exchange_weak(made->next, made)) {
    }
    return made;
  }

  struct waiting {
    std::uint64_t epoch; // readers that began in this epoch or before may access it
    std::shared_ptr<void const> old;
  };
  std::atomic<std::uint64_t> now_{1};
  std::atomic<reader*> readers_{nullptr};
  mutex mutex_;
  std::vector<waiting> waiting_;
};

} // namespace overdub::detail
