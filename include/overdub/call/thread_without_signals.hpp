// Threads of the library's own.
#pragma once

#include <overdub/call/blocked_signals.hpp>

#include <memory>
#include <thread>
#include <utility>

namespace overdub::detail {

/// A thread that handles no signals. They reach the program's own threads, whose handlers may then wait for this one.
template <class F>
std::unique_ptr<std::thread> thread_without_signals(F&& f) {
  blocked_signals const here;
  return std::make_unique<std::thread>(std::forward<F>(f));
}

} // namespace overdub::detail
