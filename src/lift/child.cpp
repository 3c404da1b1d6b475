#include "child.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <initializer_list>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace overdub::lifting {
namespace {

[[noreturn]] void be_child(void (*run)(void const*), void const* object, unsigned seconds) {
  for (int const s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGALRM, SIGXCPU})
    std::signal(s, SIG_DFL);
  sigset_t all; // the child inherits the signals that the caller blocks
  sigfillset(&all);
  (void)sigprocmask(SIG_UNBLOCK, &all, nullptr);
  rlimit const none{0, 0}, time{seconds, seconds + 1};
  (void)setrlimit(RLIMIT_CPU, &time);
  (void)setrlimit(RLIMIT_CORE, &none);
  if (int const null = open("/dev/null", O_WRONLY); null >= 0) (void)dup2(null, STDERR_FILENO);
  (void)alarm(seconds);
  run(object);
  _exit(0);
}

} // namespace

child_end run_in_child(void (*run)(void const* object), void const* object, unsigned seconds) {
  pid_t const child = fork();
  if (child < 0) return child_end::returned;
  if (child == 0) be_child(run, object, seconds);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return child_end::returned; // the process ignores the ends of its children
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return child_end::returned;
  if (!WIFSIGNALED(status)) return child_end::crashed;
  bool const timed_out = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU;
  return timed_out ? child_end::timed_out : child_end::crashed;
}

} // namespace overdub::lifting
