#include <overdub/call/thread_without_signals.hpp>
#include <overdub/compile/tiers.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace overdub::detail {

std::int64_t nanoseconds_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The thread that runs static initialisers, usually the main thread.
OVERDUB_HIDDEN inline std::thread::id const main_thread = std::this_thread::get_id();

/// The thread for background compilations. It starts with the first task, and ends with the process, after the current task. The compiler
/// has static objects that are constructed on first use, and may be destroyed before ours: if the main thread queued a task, the thread
/// ends when the thread_locals of the main thread are destroyed.
class background_thread {
public:
  OVERDUB_HIDDEN static background_thread& the() {
    static owner one;
    return one.of_this_process();
  }

  OVERDUB_HIDDEN void run(std::function<void()> task) {
    if (std::this_thread::get_id() == main_thread) {
      struct at_end_of_thread {
        ~at_end_of_thread() { the().end(); }
      };
      thread_local at_end_of_thread const at_end;
      static_cast<void>(&at_end);
    }
    std::lock_guard const lock(mutex_);
    if (ends_) return;
    if (thread_ == nullptr) thread_ = thread_without_signals([this] { work(); });
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_ || (tasks_.empty() && !is_working_); });
  }

private:
  // fork copies the state of locks, and no threads: a child process uses a background_thread of its own. If the parent was compiling, the
  // child may have inherited locked mutexes of the compiler: it drops all tasks, and its programs stay interpreted.
  class owner {
  public:
    background_thread& of_this_process() {
      background_thread* known = now_.load();
      if (known->process_ == getpid()) return *known;
      auto* const own = new background_thread(known->ends_ || known->is_working_, known);
      if (now_.compare_exchange_strong(known, own))
        return *own; // the parent's leaks on purpose: its mutex may be locked
      delete own;
      return *known;
    }
    owner() = default;
    owner(owner const&) = delete;
    owner& operator=(owner const&) = delete;
    ~owner() {
      if (background_thread* const known = now_.load(); known->process_ == getpid()) known->end();
    }

  private:
    std::atomic<background_thread*> now_{new background_thread(false, nullptr)};
  };

  background_thread(bool ends, background_thread const* of_parent) : ends_(ends), of_parent_(of_parent) {}

  void end() {
    {
      std::lock_guard const lock(mutex_);
      ends_ = true;
      tasks_.clear();
    }
    changed_.notify_all();
    if (thread_ != nullptr && thread_->joinable()) thread_->join();
  }
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
      if (ends_) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      is_working_ = true;
      lock.unlock();
      task();
      task = nullptr; // destroys its captures before the lock is taken
      lock.lock();
      is_working_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::atomic<bool> is_working_{false},
      ends_; // atomic: a forked child reads the flags of its parent without its lock
  pid_t const process_ = getpid();
  std::unique_ptr<std::thread> thread_;
  [[maybe_unused]] background_thread const*
      of_parent_; // in a forked child: the parent's object, which stays reachable for leak checkers
};

bool run_in_background(std::function<void()> task) noexcept try {
  background_thread::the().run(std::move(task));
  return true;
} catch (...) {
  return false;
}

} // namespace overdub::detail

namespace overdub {

void wait_for_compilations() { detail::background_thread::the().wait(); }

} // namespace overdub
