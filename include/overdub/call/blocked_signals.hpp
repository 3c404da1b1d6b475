// Blocks all signals of the calling thread for a scope.
#pragma once

#include <overdub/core/requirements.hpp>

#include <csignal>

namespace overdub::detail {

/// During its lifetime, no signal handler runs on the thread that constructed it. Two system calls.
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
