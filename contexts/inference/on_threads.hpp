// on_threads: one function at many indices, on some threads.
#pragma once

#include <overdub/core/requirements.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace overdub::inference {

/// Threads that are joined when it ends. (libc++ has no std::jthread before version 20.)
class joined_threads {
public:
  joined_threads() = default;
  joined_threads(joined_threads const&) = delete;
  joined_threads& operator=(joined_threads const&) = delete;
  ~joined_threads() {
    for (std::thread& t : threads_) t.join();
  }

  /// Throws what std::thread's constructor throws.
  template <class F>
  void start(F const& f) {
    threads_.emplace_back(f);
  }
  std::size_t size() const { return threads_.size(); }

private:
  std::vector<std::thread> threads_;
};

/// Calls f(i) once for each i < count, on so many threads, this one among them; of 0 threads, on as many as there are processors. After
/// an exception no further call begins, and when all have ended, that of the least i is thrown: the same on any number of threads,
/// where what f(i) throws depends on i alone.
template <class F>
void on_threads(unsigned threads, std::size_t count, F const& f) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex; // of what follows
  std::size_t first = count;
  std::exception_ptr failure;
  auto const work = [&] {
    // Indices are taken in order: all below one that failed were begun before it.
    for (std::size_t i; !failed && (i = next++) < count;) try {
        f(i);
      } catch (...) {
        std::lock_guard const lock(mutex);
        failed = true;
        if (i < first) {
          first = i;
          failure = std::current_exception();
        }
      }
  };
  {
    auto const most = std::min<std::size_t>(
        count, threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency()));
    joined_threads others;
    try {
      while (others.size() + 1 < most) others.start(std::cref(work));
    } catch (std::system_error const&) {
      // There are no more threads to be had: those that are there do it.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

} // namespace overdub::inference
