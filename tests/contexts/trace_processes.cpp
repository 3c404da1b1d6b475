// Signal handlers and children of fork that call traced functions: what cannot be recorded is dropped, without deadlocks.
// Each case runs in its own process, with a timeout.
#include "catch.hpp"
#include "spans.hpp"

#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace od = overdub;
namespace contexts = overdub::contexts;
namespace tracing = overdub::contexts::tracing;
using contexts::trace_format;
using contexts::when_full;

namespace {

inline constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
inline constexpr auto handled = od::fn<"handled">([](auto x) { return square(x) + 1.0; });

// The result of f in another process; -1 if it times out or is killed.
template <class F>
int in_process(F const& f) {
  pid_t const child = fork();
  if (child == 0) {
    int result = 99;
    try {
      result = f();
    } catch (...) {
    }
    _exit(result);
  }
  for (int i = 0; i < 6000; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

std::atomic<long> handlers_run{0}, calls_made{0};

template <class Context>
void on_alarm(int) {
  od::run(Context{}, handled, 3.0);
  handlers_run.fetch_add(1, std::memory_order_relaxed);
}

// Sets whether handlers of SIGALRM may run on the calling thread and on the threads that it starts.
void allow_alarms(bool may_run) {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(may_run ? SIG_UNBLOCK : SIG_BLOCK, &alarms, nullptr);
}

// Interrupts the threads of this process continually, once they allow it.
template <class Context>
void begin_alarms() {
  allow_alarms(false);
  struct sigaction action {};
  action.sa_handler = &on_alarm<Context>;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval const often{{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
}
void end_alarms() {
  itimerval const never{};
  setitimer(ITIMER_REAL, &never, nullptr);
}

// Traces for a while, interrupted by handlers.
template <class Context>
void work_interrupted() {
  ++calls_made;
  od::run(Context{}, square, 2.0); // allocates the ring of the thread outside of a handler
  allow_alarms(true);
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  while (std::chrono::steady_clock::now() < until)
    for (int i = 0; i < 100; ++i, ++calls_made) od::run(Context{}, square, 2.0);
  allow_alarms(false); // calls after the end of a thread are not counted
}

// 0 if each end in Chrome's events has a begin, values are correct, and there are events.
int check_events(std::string const& path) {
  std::string const command = "python3 -c 'import json, sys\n"
                              "events, open_ = json.load(open(sys.argv[1])), {}\n"
                              "for e in events:\n"
                              "  stack = open_.setdefault(e[\"tid\"], [])\n"
                              "  if e[\"ph\"] == \"B\":\n"
                              "    stack.append(e[\"name\"])\n"
                              "    a = e.get(\"args\")\n"
                              "    if a: assert a == {\"0\": {\"square\": 2, \"handled\": 3}[e[\"name\"]]} "
                              "or e[\"name\"] == \"square\", e\n"
                              "  if e[\"ph\"] == \"E\": stack.pop()\n"
                              "assert len(events) > 1000 and all(not s for s in open_.values()), open_' " +
                              path;
  return std::system(command.c_str());
}

template <class Context>
int record_interrupted(when_full policy) {
  spans::temporary_file const file("interrupted.json");
  contexts::trace_file spans_of(file.path, trace_format::chrome, {.records = 64, .policy = policy});
  begin_alarms<Context>();
  std::thread other(&work_interrupted<Context>);
  work_interrupted<Context>();
  other.join();
  end_alarms();
  spans_of.finish();
  if (handlers_run < 100) return 1;
  // Each call has a begin and an end, and a handler makes two calls. Dropped records are counted.
  auto const all = spans_of.statistics();
  bool const is_complete =
      all.records + all.lost == static_cast<std::uint64_t>(2 * calls_made + 4 * handlers_run);
  if (policy == when_full::block && std::is_same_v<Context, contexts::trace> && !is_complete) return 3;
  return check_events(file.path) == 0 ? 0 : 2;
}

} // namespace

TEST_CASE("a signal handler may call traced functions while a file is written") {
  for (int round = 0; round < 5; ++round) {
    CHECK(in_process([] { return record_interrupted<contexts::trace>(when_full::block); }) == 0);
    CHECK(in_process([] { return record_interrupted<contexts::trace>(when_full::drop_oldest); }) == 0);
    CHECK(in_process([] {
            return record_interrupted<contexts::trace_with<tracing::arguments>>(when_full::block);
          }) == 0);
  }
}

TEST_CASE("a signal handler may call traced functions while its thread ends") {
  CHECK(in_process([] {
          spans::temporary_file const file("ending.json");
          contexts::trace_file spans_of(
              file.path, trace_format::chrome, {.records = 64, .policy = when_full::drop_oldest});
          begin_alarms<contexts::trace>();
          auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
          for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
            std::thread ending([i] {
              od::run(contexts::trace{}, square, 2.0);
              allow_alarms(true);
              auto const end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(i * 97 % 60'000);
              while (std::chrono::steady_clock::now() < end) {
              }
            });
            ending.join();
          }
          end_alarms();
          spans_of.finish();
          return handlers_run < 100 ? 1 : spans_of.statistics().threads == 1 ? 0 : 2;
        }) == 0);
}

TEST_CASE("a signal handler may call traced functions while spans are recorded in memory, or counted") {
  CHECK(in_process([] {
          using counting = contexts::trace_with<tracing::counts>;
          contexts::recording spans_of(1 << 18);
          begin_alarms<contexts::trace>();
          work_interrupted<contexts::trace>();
          end_alarms();
          spans::temporary_file const file("in_memory.json");
          spans_of.write(file.path, trace_format::chrome);
          begin_alarms<counting>();
          work_interrupted<counting>();
          end_alarms();
          if (spans_of.counts().at("square") < 100) return 3;
          return spans_of.statistics().lost > 0 || check_events(file.path) == 0 ? 0 : 2;
        }) == 0);
}

TEST_CASE("a child of fork records nothing in its parent's file, and does not wait for a full ring") {
  CHECK(in_process([] {
          spans::temporary_file const file("forked.json");
          std::optional<contexts::trace_file> spans_of(
              std::in_place, file.path, trace_format::chrome, contexts::trace_file_options{.records = 64});
          std::atomic<bool> ends{false};
          std::thread other([&] {
            while (!ends) od::run(contexts::trace{}, square, 2.0);
          });
          int result = 0;
          for (int i = 0; i < 30 && result == 0; ++i) {
            for (int k = 0; k < 100; ++k) od::run(contexts::trace{}, square, 2.0);
            result = in_process([&] {
              for (int k = 0; k < 10'000; ++k) od::run(contexts::trace{}, square, 2.0);
              if (spans_of->statistics().records != 0) return 10;
              {
                contexts::recording own; // a child makes its own recording
                for (int k = 0; k < 10; ++k) od::run(contexts::trace{}, handled, 2.0);
                if (own.statistics().records != 40) return 11;
                if (own.text(trace_format::folded).find("handled") == std::string::npos) return 12;
              }
              spans_of->finish();
              spans_of.reset();
              return 0;
            });
          }
          ends = true;
          other.join();
          spans_of->finish();
          if (result != 0) return result;
          return check_events(file.path) == 0 ? 0 : 2;
        }) == 0);
}

TEST_CASE("a child of fork that inherited a recording terminates, and its counts start at 0") {
  CHECK(
      in_process([] {
        using counting = contexts::trace_with<tracing::counts>;
        contexts::recording spans_of;
        od::run(contexts::trace{}, handled, 2.0);
        od::run(counting{}, square, 2.0);
        int const result = in_process([&] {
          od::run(contexts::trace{}, handled, 2.0);
          if (spans_of.statistics().records != 0 || !spans_of.counts().empty()) return 10;
          spans_of.stop();
          contexts::recording own;
          od::run(counting{}, square, 2.0);
          od::run(counting{}, handled, 2.0);
          return own.counts() == std::map<std::string, std::uint64_t>{{"square", 2}, {"handled", 1}} ? 0 : 11;
        });
        od::run(contexts::trace{}, handled, 2.0);
        return result != 0                                                                 ? result
               : spans_of.statistics().records == 8 && spans_of.counts().at("square") == 1 ? 0
                                                                                           : 12;
      }) == 0);
}

TEST_CASE("a child that inherited the file of a program without traced calls terminates") {
  CHECK(in_process([] {
          std::optional<contexts::trace_file> spans_of(std::in_place, "/dev/null");
          return in_process([&] {
            spans_of.reset();
            return 0;
          });
        }) == 0);
}

TEST_CASE("fork handlers of another library may call traced functions, whose records are dropped") {
  CHECK(in_process([] {
          auto const traced = [] { od::run(contexts::trace{}, square, 2.0); };
          // These threads existed before the recording: they run while it holds its lock.
          pthread_atfork(traced, traced, traced);
          contexts::recording r;
          std::thread([&] { od::run(contexts::trace{}, handled, 3.0); }).join();
          int const child = in_process([] { return 7; }); // the thread that forks has recorded nothing yet
          od::run(contexts::trace{}, handled, 3.0);
          std::string const all = spans::tree(r);
          return child == 7 && spans::occurrences(all, "handled") == 2 &&
                         spans::occurrences(all, "square") == 2
                     ? 0
                     : 1;
        }) == 0);
}

TEST_CASE("counts of callees are preserved while the table of counts grows") {
  tracing::call_counts counts;
  for (std::uint32_t callee = 0; callee < 1000; ++callee) {
    if (!counts.has(callee)) counts.grow(callee);
    for (std::uint32_t k = 0; k <= callee; ++k) counts.count(k);
  }
  bool all = true;
  for (std::uint32_t callee = 0; callee < 1000; ++callee) all = all && counts.of(callee) == 1000 - callee;
  CHECK(all);
}
