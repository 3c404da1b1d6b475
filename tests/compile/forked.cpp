// Children of fork while the parent compiles in the background: they have their own thread or none, and they terminate.
#include "catch.hpp"
#include "leaks.hpp"

#include <overdub/compile/tiers.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using overdub::wait_for_compilations;
using overdub::detail::run_in_background;

// The exit code of a child that runs f and then exits with the destructors of static objects; -1 after half a minute.
template <class F>
int in_child(F const& f) {
  std::fflush(nullptr); // else the child writes the buffer again
  pid_t const child = fork();
  if (child == 0) std::exit(f());
  for (int i = 0; i < 3000; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

// The number of background tasks, of two, that run in the child.
int tasks_run() {
  std::atomic<int> run{0};
  run_in_background([&] { ++run; });
  run_in_background([&] { ++run; });
  wait_for_compilations();
  return run;
}

// Starts the parent's thread. The leak checker of a child does not search the stack of this thread, which holds the only reference.
void start_parents_thread() {
  no_leaks const here;
  run_in_background([] {});
}

} // namespace

TEST_CASE("a child of fork has its own background thread") {
  start_parents_thread();
  wait_for_compilations();
  for (int i = 0; i < 20; ++i) CHECK(in_child(tasks_run) == 2);
  CHECK(tasks_run() == 2); // the parent still has its thread
}

TEST_CASE("a child that is forked during a compilation compiles nothing in the background, and terminates") {
  start_parents_thread();
  std::atomic<bool> begun{false}, ends{false};
  run_in_background([&] {
    begun = true;
    while (!ends) std::this_thread::yield();
  });
  while (!begun) std::this_thread::yield();
  CHECK(in_child(tasks_run) == 0);
  ends = true;
  wait_for_compilations();
  CHECK(tasks_run() == 2);
}
