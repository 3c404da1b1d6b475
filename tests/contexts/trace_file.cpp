// Trace files: updates while the program runs, and their content after failures.
#include "catch.hpp"
#include "spans.hpp"

#include <overdub/contexts/trace.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

namespace od = overdub;
namespace tracing = overdub::contexts::tracing;
using namespace std::chrono_literals;
using overdub::contexts::recording;
using overdub::contexts::trace;
using overdub::contexts::trace_error;
using overdub::contexts::trace_file;
using overdub::contexts::trace_format;
using overdub::contexts::when_full;

namespace {

constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
constexpr auto norm = od::fn<"norm">([](auto x, auto y) {
  auto const xx = square(x);
  auto const yy = square(y);
  return sqrt(xx + yy);
});

int begins(std::string const& perfetto) { return spans::occurrences(perfetto, "TYPE_SLICE_BEGIN"); }
int ends(std::string const& perfetto) { return spans::occurrences(perfetto, "TYPE_SLICE_END"); }

// Waits for another thread, at most ten seconds.
bool soon(auto const& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(10ms);
  return condition();
}

} // namespace

TEST_CASE("a file of each format has the spans") {
  for (trace_format const format : {trace_format::perfetto, trace_format::chrome}) {
    spans::temporary_file const file("spans");
    trace_file out(file.path, format);
    for (int i = 0; i < 10; ++i) od::run(trace{}, norm, 3.0, 4.0);
    out.finish();
    CHECK((out.statistics().records == 60 && out.statistics().lost == 0 && out.statistics().threads == 1));
    if (format == trace_format::perfetto) {
      std::string const text = spans::decoded(file.path);
      CHECK((begins(text) == 30 && ends(text) == 30));
    } else
      CHECK(spans::occurrences(spans::tree(spans::contents(file.path)), "norm\n  square\n  square\n") == 10);
  }
}

TEST_CASE("a second trace into the same file is rejected, and the first one is complete") {
  spans::temporary_file const file("twice");
  trace_file out(file.path, trace_format::chrome);
  for (int i = 0; i < 10; ++i) od::run(trace{}, norm, 3.0, 4.0);
  CHECK_THROWS_AS(trace_file(file.path, trace_format::chrome), trace_error);
  out.finish();
  CHECK(spans::occurrences(spans::tree(spans::contents(file.path)), "norm\n  square\n  square\n") == 10);
}

TEST_CASE("a trace replaces a file when it finishes, and a trace of another run into it is rejected") {
  spans::temporary_file const file("replaced"), beside("replaced.partial");
  std::ofstream(file.path) << "old";
  {
    trace_file out(file.path, trace_format::chrome, {.period = 1ms});
    od::run(trace{}, norm, 3.0, 4.0);
    CHECK(soon([&] { return spans::occurrences(spans::contents(beside.path), "\"ph\":\"E\"") == 3; }));
    CHECK(spans::contents(file.path) == "old");
    pid_t const child = fork();
    if (child == 0) {
      overdub::io::writing const how = overdub::io::writing::streamed;
      try {
        overdub::contexts::tracing::output_file const second(file.path, how);
      } catch (trace_error const& e) {
        std::string const sentence = "overdub: the trace cannot be written to " + file.path +
                                     ": another run writes to it now; give each run a name of its own";
        _exit(e.what() == sentence ? 7 : 8);
      }
      _exit(9);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  }
  CHECK(spans::occurrences(spans::tree(spans::contents(file.path)), "norm\n  square\n  square\n") == 1);
  CHECK_FALSE(std::ifstream(beside.path).is_open());
}

TEST_CASE("a recording can be written to a file in any format") {
  recording r;
  od::run(trace{}, norm, 3.0, 4.0);
  r.stop();
  for (trace_format const format :
       {trace_format::perfetto, trace_format::chrome, trace_format::folded, trace_format::speedscope,
        trace_format::svg}) {
    spans::temporary_file const file("written");
    r.write(file.path, format);
    CHECK(spans::contents(file.path).size() > 20);
  }
  CHECK_THROWS_WITH(
      r.write("/dev/full", trace_format::perfetto),
      "overdub: the trace cannot be written to /dev/full: No space left on device");
  CHECK_THROWS_AS(r.write("/", trace_format::perfetto), trace_error);
}

TEST_CASE("the file is updated while the program runs") {
  spans::temporary_file const file("live");
  trace_file out(file.path, trace_format::chrome, {.period = 1ms});
  od::run(trace{}, norm, 3.0, 4.0);
  CHECK(soon([&] { return spans::occurrences(spans::contents(file.path), "\"ph\":\"E\"") == 3; }));
}

TEST_CASE("a thread that waits when its ring is full loses no records") {
  spans::temporary_file const file("block");
  trace_file out(file.path, trace_format::perfetto, {.records = 16, .policy = when_full::block});
  for (int i = 0; i < 20'000; ++i) od::run(trace{}, square, 2.0);
  out.finish();
  CHECK((out.statistics().records == 40'000 && out.statistics().lost == 0));
  std::string const text = spans::decoded(file.path);
  CHECK((begins(text) == 20'000 && ends(text) == 20'000));
}

TEST_CASE("if old records are dropped, the file has their number, and its spans are balanced") {
  spans::temporary_file const file("drop");
  trace_file out(file.path, trace_format::chrome, {.records = 64, .policy = when_full::drop_oldest});
  for (int i = 0; i < 100'000; ++i) od::run(trace{}, norm, 3.0, 4.0);
  out.finish();
  auto const statistics = out.statistics();
  CHECK(statistics.records == 600'000);
  CHECK(statistics.lost > 0);
  std::string const text = spans::contents(file.path);
  std::uint64_t said = 0;
  for (auto at = text.find(" records lost"); at != std::string::npos; at = text.find(" records lost", at + 1))
    said += std::stoull(text.substr(text.rfind('"', at) + 1));
  CHECK(said == statistics.lost);
  CHECK(spans::occurrences(text, "\"ph\":\"B\"") == spans::occurrences(text, "\"ph\":\"E\""));
}

TEST_CASE("a ring of a negative number of records is rejected") {
  auto const negative = static_cast<std::size_t>(-1);
  CHECK_THROWS_WITH(recording(negative), Catch::StartsWith("overdub: a ring of -1 records for each thread"));
  CHECK_THROWS_AS(
      trace_file("/tmp/overdub_test_negative", trace_format::chrome, {.records = negative}), trace_error);
  CHECK_FALSE(std::ifstream("/tmp/overdub_test_negative").is_open());
}

TEST_CASE("a file that cannot be opened is an error of the constructor") {
  CHECK_THROWS_WITH(
      trace_file("/nowhere/spans.pftrace"),
      "overdub: the trace cannot be written to /nowhere/spans.pftrace: No such file or directory");
  recording after; // no recording is active
  CHECK_THROWS_AS(trace_file("/tmp/overdub_test_second"), trace_error);
  CHECK_FALSE(std::ifstream("/tmp/overdub_test_second").is_open());
}

TEST_CASE("only a recording can write a file for speedscope, folded stacks, or a picture") {
  for (trace_format const format : {trace_format::speedscope, trace_format::folded, trace_format::svg})
    CHECK_THROWS_WITH(
        trace_file("/tmp/overdub_test_at_once", format), "overdub: a file for speedscope, folded stacks, or "
                                                         "a picture, is written at once; keep the spans in a "
                                                         "recording, and call its write(path, format)");
  CHECK_FALSE(std::ifstream("/tmp/overdub_test_at_once").is_open());
}

TEST_CASE("a full disk is reported once, with the position in the file, and no thread waits for it") {
  trace_file out("/dev/full", trace_format::perfetto, {.records = 16, .policy = when_full::block});
  for (int i = 0; i < 1000; ++i) CHECK(od::run(trace{}, square, 2.0) == 4.0);
  std::string const sentence =
      "overdub: the trace could not be written to /dev/full after byte 0: No space left on device";
  CHECK_THROWS_WITH(out.finish(), sentence);
  CHECK(out.statistics().records == 2000);
}

TEST_CASE("an error is written to stderr once if finish is not called") {
  int fds[2];
  REQUIRE(pipe(fds) == 0);
  int const kept = dup(2);
  dup2(fds[1], 2);
  {
    trace_file const out("/dev/full");
    od::run(trace{}, square, 2.0);
  }
  dup2(kept, 2);
  close(kept);
  close(fds[1]);
  char text[1000]{};
  CHECK(read(fds[0], text, sizeof text - 1) > 0);
  close(fds[0]);
  CHECK(
      std::string(text) ==
      "overdub: the trace could not be written to /dev/full after byte 0: No space left on "
      "device\n");
}

TEST_CASE("on a disk that becomes full, the file keeps whole packets") {
  spans::temporary_file const file("limit");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const small{100'000, before.rlim_max};
  auto const handler = std::signal(SIGXFSZ, SIG_IGN);
  trace_file out(file.path);
  setrlimit(RLIMIT_FSIZE, &small);
  for (int i = 0; i < 50'000; ++i) od::run(trace{}, square, 2.0);
  std::string what;
  try {
    out.finish();
  } catch (trace_error const& e) {
    what = e.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  std::string const kept = spans::contents(file.path);
  CHECK(kept.size() > 40'000);
  CHECK(kept.size() <= 100'000);
  CHECK(
      what == "overdub: the trace could not be written to " + file.path + " after byte " +
                  std::to_string(kept.size()) + ": File too large; what was written before is kept");
  std::string const text = spans::decoded(file.path);
  CHECK_FALSE(text.starts_with("failed"));
  CHECK(begins(text) > 1000);
}

TEST_CASE("a killed program leaves files that can be parsed") {
  for (trace_format const format : {trace_format::perfetto, trace_format::chrome}) {
    spans::temporary_file const file("killed");
    pid_t const child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      trace_file const out(file.path, format, {.period = 1ms});
      auto const waits = od::leaf<"waits">([&file](double x) {
        std::size_t size = 0; // until the file stops growing
        for (int unchanged = 0; unchanged < 30; std::this_thread::sleep_for(10ms)) {
          std::size_t const now = spans::contents(file.path).size();
          unchanged = now == size && now > 20'000 ? unchanged + 1 : 0;
          size = now;
        }
        std::raise(SIGKILL);
        return x;
      });
      auto const f = od::fn<"f">([=](auto x) {
        for (int i = 0; i < 1000; ++i) (void)square(x);
        return waits(x);
      });
      od::run(trace{}, f, 2.0);
      _exit(1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    if (format == trace_format::perfetto) {
      std::string const text = spans::decoded(file.path);
      CHECK((begins(text) == 1002 && ends(text) == 1000)); // f and waits have no end
    } else {
      std::string const text = spans::output_of(
          "python3 -c 'import json, sys\n"
          "t = json.loads(open(sys.argv[1]).read() + \"]\")\n"
          "print([sum(e[\"ph\"] == p for e in t) for p in \"BE\"])' " +
          file.path);
      CHECK(text == "[1002, 1000]\n");
    }
  }
}

TEST_CASE("an exception through the scope of a trace_file leaves a complete file") {
  auto const fails =
      od::leaf<"fails">([](double x) -> double { throw std::runtime_error(std::to_string(x)); });
  spans::temporary_file const file("thrown");
  try {
    trace_file const out(file.path, trace_format::chrome);
    od::run(trace{}, od::fn<"f">([=](auto x) { return fails(square(x)); }), 2.0);
  } catch (std::runtime_error const&) {
  }
  std::string const text = spans::contents(file.path);
  CHECK(text.ends_with("\n]\n"));
  CHECK(spans::tree(text) == "f\n  square\n  fails\n  = \"failed\":true\n= \"failed\":true\n");
}
