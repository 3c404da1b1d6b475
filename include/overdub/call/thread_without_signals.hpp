// The library's own threads.
#pragma once

#include <overdub/call/blocked_signals.hpp>

#include <memory>
#include <thread>
#include <utility>

namespace overdub::detail {

/// Starts a thread that blocks all signals. The program's threads handle them, whose handlers may then wait for this thread.
template <class F>
std::unique_ptr<std::thread> thread_without_signals(F&& f) {
  blocked_signals const here;
  return std::make_unique<std::thread>(std::forward<F>(f));
}

} // namespace overdub::detail
