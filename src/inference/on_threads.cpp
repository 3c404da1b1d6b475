#include <overdub/inference/on_threads.hpp>

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

namespace {

// Threads that the destructor joins. (libc++ has no std::jthread before version 20.)
class joined_threads {
public:
  joined_threads() = default;
  joined_threads(joined_threads const&) = delete;
  joined_threads& operator=(joined_threads const&) = delete;
  ~joined_threads() {
    for (std::thread& t : threads_) t.join();
  }

  // Throws what std::thread's constructor throws.
  template <class F>
  void start(F const& f) {
    threads_.emplace_back(f);
  }
  std::size_t size() const { return threads_.size(); }

private:
  std::vector<std::thread> threads_;
};

} // namespace

void call_on_threads(
    unsigned threads, std::size_t count, void (*call)(void const* f, std::size_t i), void const* f) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex; // guards `first` and `failure`
  std::size_t first = count;
  std::exception_ptr failure;
  auto const work = [&] {
    // Indices are claimed in order, so that the call of each smaller index has begun, and the smallest failing one is found.
    for (std::size_t i; !failed && (i = next++) < count;) try {
        call(f, i);
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
    auto const maximum_threads = std::min<std::size_t>(
        count, threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency()));
    joined_threads others;
    try {
      while (others.size() + 1 < maximum_threads) others.start(std::cref(work));
    } catch (std::system_error const&) {
      // The system has no more threads: continue with those that started.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

} // namespace overdub::inference
