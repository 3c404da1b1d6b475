// Signals that the calling thread does not handle for a while.
#pragma once

#include <overdub/core/requirements.hpp>

#include <csignal>

namespace overdub::detail {

/// While it lives, no signal handler runs on the thread that made it. Two calls of the system.
class blocked_signals {
public:
  blocked_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  blocked_signals(blocked_signals const&) = delete;
  blocked_signals& operator=(blocked_signals const&) = delete;
  ~blocked_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

} // namespace overdub::detail
