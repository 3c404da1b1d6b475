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

// The thread that loads the library, usually the main thread.
OVERDUB_HIDDEN inline std::thread::id const initialising_thread = std::this_thread::get_id();

/// The thread for background compilations. The first task starts it. At exit it finishes the current task, and drops the others. LLVM
/// constructs static objects on first use, which may be destroyed before the static `owner`. If the main thread queued a task, a
/// thread_local of the main thread therefore stops this thread: thread_locals are destroyed before static objects.
class background_thread {
public:
  OVERDUB_HIDDEN static background_thread& instance() {
    static owner one;
    return one.of_this_process();
  }

  OVERDUB_HIDDEN void queue(std::function<void()> task) {
    if (std::this_thread::get_id() == initialising_thread) {
      struct at_end_of_thread {
        ~at_end_of_thread() { instance().stop(); }
      };
      thread_local at_end_of_thread const at_end;
      static_cast<void>(&at_end); // a use, which constructs it
    }
    std::lock_guard const lock(mutex_);
    if (is_stopped_) return;
    if (thread_ == nullptr) thread_ = thread_without_signals([this] { run_tasks(); });
    tasks_.push_back(std::move(task));
    state_changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    state_changed_.wait(lock, [&] { return is_stopped_ || (tasks_.empty() && !is_working_); });
  }

private:
  // A forked process has copies of the parent's mutexes, and not of its threads, so it uses a background_thread of its own. If the parent
  // was compiling, mutexes of LLVM may be locked: the child drops all tasks, and its programs stay interpreted.
  class owner {
  public:
    background_thread& of_this_process() {
      background_thread* current = current_.load();
      if (current->process_ == getpid()) return *current;
      auto* const created = new background_thread(current->is_stopped_ || current->is_working_, current);
      if (current_.compare_exchange_strong(current, created))
        return *created; // the parent's is leaked: its mutex may be locked, so that it cannot be destroyed
      delete created;
      return *current;
    }
    owner() = default;
    owner(owner const&) = delete;
    owner& operator=(owner const&) = delete;
    ~owner() {
      if (background_thread* const current = current_.load(); current->process_ == getpid()) current->stop();
    }

  private:
    std::atomic<background_thread*> current_{new background_thread(false, nullptr)};
  };

  background_thread(bool is_stopped, background_thread const* of_parent)
      : is_stopped_(is_stopped), of_parent_(of_parent) {}

  void stop() {
    {
      std::lock_guard const lock(mutex_);
      is_stopped_ = true;
      tasks_.clear();
    }
    state_changed_.notify_all();
    if (thread_ != nullptr && thread_->joinable()) thread_->join();
  }
  void run_tasks() {
    std::unique_lock lock(mutex_);
    for (;;) {
      state_changed_.wait(lock, [&] { return is_stopped_ || !tasks_.empty(); });
      if (is_stopped_) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      is_working_ = true;
      lock.unlock();
      task();
      task = nullptr; // destroys the captures without holding the mutex
      lock.lock();
      is_working_ = false;
      state_changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable state_changed_;
  std::deque<std::function<void()>> tasks_;
  std::atomic<bool> is_working_{false},
      is_stopped_; // atomic, since a forked process reads the parent's flags without the mutex
  pid_t const process_ = getpid();
  std::unique_ptr<std::thread> thread_;
  [[maybe_unused]] background_thread const*
      of_parent_; // in a forked process, the parent's object, so that leak checkers can reach it
};

bool run_in_background(std::function<void()> task) noexcept try {
  background_thread::instance().queue(std::move(task));
  return true;
} catch (...) {
  return false;
}

} // namespace overdub::detail

namespace overdub {

void wait_for_compilations() { detail::background_thread::instance().wait(); }

} // namespace overdub
