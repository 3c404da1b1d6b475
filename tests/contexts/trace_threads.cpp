// trace on several threads, each with its ring.
#include "catch.hpp"
#include "spans.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/control/parallel.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace od = overdub;
namespace tracing = overdub::contexts::tracing;
using namespace std::chrono_literals;
using overdub::contexts::recording;
using overdub::contexts::trace;
using overdub::contexts::trace_file;
using overdub::contexts::trace_format;
using overdub::contexts::trace_with;
using overdub::contexts::when_full;

namespace {

constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
constexpr auto squares = od::fn<"squares">([](auto xs) { return od::parallel_map.on(3)(square, xs); });

void on_threads(int n, auto const& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(f);
  for (std::thread& t : threads) t.join();
}
int begins(std::string const& chrome) { return spans::occurrences(chrome, "\"ph\":\"B\""); }
int ends(std::string const& chrome) { return spans::occurrences(chrome, "\"ph\":\"E\""); }

} // namespace

TEST_CASE("the spans of a parallel map are on the threads that ran them") {
  recording r;
  od::run(trace{}, squares, od::array<double>{1, 2, 3, 4, 5, 6});
  std::string const text = r.text(trace_format::chrome);
  CHECK((begins(text) == 7 && ends(text) == 7));
  auto const threads = r.statistics().threads; // the first part runs here; a thread may reuse a ring
  CHECK((threads == 2 || threads == 3));
  CHECK(spans::occurrences(text, "thread_name") == static_cast<int>(threads));
  CHECK(spans::occurrences(r.text(trace_format::folded), "main;squares;square ") == 1);
  CHECK(spans::occurrences(r.text(trace_format::folded), "thread 2;square ") == 1);
}

TEST_CASE("a parallel map with captures remains parallel in a trace") {
  std::atomic<int> here{0};
  double const factor = 2;
  auto const f = od::fn<"f">([&](auto xs) {
    return od::parallel_map.on(2)(
        od::fn<"scaled">([&](auto x) {
          ++here; // each thread waits for the other one
          for (int i = 0; here < 2 && i < 10'000; ++i) std::this_thread::sleep_for(1ms);
          return factor * x;
        }),
        xs);
  });
  recording r;
  CHECK(od::run(trace{}, f, od::array<double>{1, 2})[1] == 4.0);
  CHECK(here == 2);
  CHECK(r.statistics().threads == 2);
}

TEST_CASE("concurrent calls of one compiled program have their own spans") {
  auto const f = od::compile(
      trace_with<tracing::arguments>{}, od::fn<"twice">([](auto x) { return square(x) + square(x + 1.0); }),
      od::signature<double>);
  recording r;
  std::atomic<bool> right{true};
  on_threads(3, [&] {
    for (int i = 0; i < 200; ++i)
      if (f(2.0) != 13.0) right = false;
  });
  CHECK(right);
  std::string const text = r.text(trace_format::chrome);
  CHECK((begins(text) == 3 * 200 * 3 && ends(text) == 3 * 200 * 3));
  CHECK(spans::occurrences(text, "\"args\":{\"result\":13}") == 3 * 200);
}

TEST_CASE("consecutive threads share a ring, and no record is lost") {
  recording r;
  for (int i = 0; i < 50; ++i) on_threads(2, [] { od::run(trace{}, square, 2.0); });
  CHECK(r.statistics().threads <= 2);
  CHECK((begins(r.text(trace_format::chrome)) == 100 && ends(r.text(trace_format::chrome)) == 100));
}

TEST_CASE("the counts of all threads are summed") {
  recording r;
  on_threads(4, [] {
    for (int i = 0; i < 1000; ++i) od::run(trace_with<tracing::counts>{}, square, 2.0);
  });
  CHECK(r.counts().at("square") == 4000);
}

TEST_CASE("a file has all spans of threads that wait for a full ring") {
  spans::temporary_file const file("threads");
  trace_file out(file.path, trace_format::chrome, {.records = 64, .policy = when_full::block, .period = 1ms});
  on_threads(4, [] {
    for (int i = 0; i < 2000; ++i) od::run(trace{}, square, 2.0);
  });
  out.finish();
  std::string const text = spans::contents(file.path);
  CHECK((begins(text) == 8000 && ends(text) == 8000));
  CHECK(out.statistics().lost == 0);
}

TEST_CASE("spans of threads that do not wait are balanced, and lost records are counted") {
  spans::temporary_file const file("dropping");
  trace_file out(
      file.path, trace_format::chrome, {.records = 64, .policy = when_full::drop_oldest, .period = 1ms});
  on_threads(3, [] {
    for (int i = 0; i < 20'000; ++i) od::run(trace{}, square, 2.0);
  });
  out.finish();
  std::string const text = spans::contents(file.path);
  auto const statistics = out.statistics();
  CHECK(statistics.records == 120'000);
  CHECK(begins(text) == ends(text));
  CHECK(static_cast<std::uint64_t>(begins(text)) <= statistics.records - statistics.lost);
}

TEST_CASE("a recording can be read while threads write into it") {
  recording r(1 << 8);
  std::atomic<bool> stop{false};
  std::vector<std::string> texts;
  {
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        while (!stop) od::run(trace_with<tracing::arguments>{}, square, 2.0);
      });
    for (int i = 0; i < 50; ++i) texts.push_back(r.text(trace_format::chrome));
    stop = true;
    for (std::thread& t : threads) t.join();
  }
  for (std::string const& text : texts) {
    CHECK(begins(text) - ends(text) >= 0);
    CHECK(begins(text) - ends(text) <= 2);
    // No torn records: each argument is 2, and each result 4.
    CHECK(spans::occurrences(text, "\"args\":{\"0\":") == spans::occurrences(text, "\"args\":{\"0\":2}"));
    CHECK(spans::occurrences(text, "\"result\":") == spans::occurrences(text, "\"result\":4}"));
  }
}

TEST_CASE("a record is read completely or counted as lost, while the writer overtakes the reader") {
  tracing::ring r(16, false);
  r.set_limit(tracing::ring::unlimited);
  constexpr std::uint64_t total = 300'000;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < total; ++i) r.write(i, i * 0x9e37'79b9'7f4a'7c15);
  });
  std::uint64_t from = 0, lost = 0, read = 0, next = 0;
  bool whole = true, ordered = true;
  while (from < total) {
    std::vector<tracing::record> out;
    lost += r.read(from, 16, false, out);
    read += out.size();
    for (tracing::record const& x : out) {
      whole = whole && x.second == x.first * 0x9e37'79b9'7f4a'7c15;
      ordered = ordered && x.first >= next;
      next = x.first + 1;
    }
  }
  writer.join();
  CHECK(whole);
  CHECK(ordered);
  CHECK(read + lost == total);
}

TEST_CASE("recordings begin and end while threads run traced functions") {
  std::atomic<bool> stop{false};
  std::atomic<long> calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        od::run(trace{}, square, 2.0);
        od::run(trace_with<tracing::counts>{}, square, 2.0);
        ++calls;
      }
    });
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) {
    recording r(64);
    long const before = calls;
    while (calls < before + 100) std::this_thread::yield();
    r.stop();
    texts.push_back(r.text(trace_format::chrome) + std::to_string(r.counts()["square"]));
  }
  for (int i = 0; i < 5; ++i) {
    spans::temporary_file const file("on_and_off");
    trace_file out(
        file.path, trace_format::perfetto, {.records = 16, .policy = when_full::block, .period = 1ms});
    long const before = calls;
    while (calls < before + 100) std::this_thread::yield();
    out.finish();
    CHECK(spans::contents(file.path).size() > 1000);
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  for (std::string const& text : texts) {
    CHECK(begins(text) >= 10);
    CHECK_FALSE(text.ends_with("]\n0"));
  }
}
