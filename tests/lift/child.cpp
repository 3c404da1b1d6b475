// The limit of time of a child process holds whatever its parent blocks.
#include "catch.hpp"

#include <overdub/implementation/lift/child.hpp>

#include <csignal>
#include <unistd.h>

using overdub::lifting::child_end;
using overdub::lifting::run_in_child;

TEST_CASE("a child process ends at its limit of time, also if its parent blocks signals") {
  sigset_t all, before;
  sigfillset(&all);
  REQUIRE(sigprocmask(SIG_BLOCK, &all, &before) == 0);
  child_end const sleeps = run_in_child([](void const*) { (void)sleep(20); }, nullptr, 1);
  child_end const returns = run_in_child([](void const*) {}, nullptr, 20);
  child_end const aborts = run_in_child([](void const*) { (void)raise(SIGABRT); }, nullptr, 20);
  REQUIRE(sigprocmask(SIG_SETMASK, &before, nullptr) == 0);
  CHECK(sleeps == child_end::timed_out);
  CHECK(returns == child_end::returned);
  CHECK(aborts == child_end::crashed);
}
