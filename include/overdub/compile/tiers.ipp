#pragma once

#include <overdub/compile/tiers.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace overdub::detail {

// Where objects of static storage are made first.
inline std::thread::id const main_thread = std::this_thread::get_id();

/// One thread, which begins with the first task and ends with the program, when the task that it runs is done: if the main thread gave
/// it tasks, before objects of static storage are destroyed, since what compiles has such objects, which it makes when it needs them.
class background_thread {
public:
  static background_thread& the() {
    static background_thread one;
    return one;
  }
  ~background_thread() { end(); }

  void run(std::function<void()> task) {
    if (std::this_thread::get_id() == main_thread) {
      struct at_end_of_thread {
        ~at_end_of_thread() { the().end(); }
      };
      thread_local at_end_of_thread const at_end;
      static_cast<void>(&at_end);
    }
    std::lock_guard const lock(mutex_);
    if (ends_) return;
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_ || (tasks_.empty() && !is_working_); });
  }

private:
  background_thread() = default;

  void end() {
    {
      std::lock_guard const lock(mutex_);
      ends_ = true;
      tasks_.clear();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
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
      task = nullptr; // what it held, too
      lock.lock();
      is_working_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool is_working_ = false, ends_ = false;
  std::thread thread_;
};

OVERDUB_DECL bool run_in_background(std::function<void()> task) noexcept try {
  background_thread::the().run(std::move(task));
  return true;
} catch (...) {
  return false;
}

} // namespace overdub::detail

namespace overdub {

OVERDUB_DECL void wait_for_compilations() { detail::background_thread::the().wait(); }

} // namespace overdub
