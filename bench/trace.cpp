// The cost of a span, against two reads of the time-stamp counter and a store, which is the lower bound; against Debian's spdlog and
// LTTng-UST, where they are installed; and the time of writing a million spans to a file.
#if OVERDUB_BENCH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include "trace_lttng.hpp"
#pragma GCC diagnostic pop
#endif

#include "ratio.hpp"

#include <overdub/contexts/trace.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#if OVERDUB_BENCH_SPDLOG
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#endif

namespace {

namespace contexts = overdub::contexts;
namespace tracing = overdub::contexts::tracing;

inline constexpr auto step = overdub::fn<"step">([](auto x) { return 1.5 - x * x; });

// The lower bound: two times and the memory for them.
struct times {
  std::uint64_t begin, end;
};
std::array<times, 4096> kept;
double by_hand(double x, unsigned i) {
  std::uint64_t const begin = tracing::read_counter();
  double const y = bench::opaque(1.5 - x * x);
  kept[i % kept.size()] = {begin, tracing::read_counter()};
  bench::forget_memory();
  return y;
}

// A thousand identical steps.
template <class Step>
double thousand(Step const& s) {
  double x = bench::opaque(0.5);
  for (unsigned i = 0; i < 1000; ++i) x = s(x, i);
  return x;
}

#if OVERDUB_BENCH_SPDLOG || OVERDUB_BENCH_LTTNG
// Other libraries need two messages for a span, one at each end.
template <class Begin, class End>
auto between(Begin const& begin, End const& end) {
  return [=](double x, unsigned) {
    begin();
    double const y = bench::opaque(1.5 - x * x);
    end();
    return y;
  };
}
#endif

double traced(double x, unsigned) { return overdub::run(contexts::trace{}, step, x); }

void spans() {
  contexts::recording const all;
  bench::compare<bench::allocating::forbidden>(
      "a thousand spans", //
      bench::way{"two readings of the counter and a store", 0, [] { return thousand(by_hand); }},
      bench::way{"trace", 1.10, [] { return thousand(traced); }},
      bench::way{"trace, counts only", 0, [] {
                   return thousand([](double x, unsigned) {
                     return overdub::run(contexts::trace_with<tracing::counts>{}, step, x);
                   });
                 }});
}

void left_out() {
  bench::compare<bench::allocating::forbidden>(
      "a thousand calls without a span", //
      bench::way{"called plainly", 0, [] { return thousand([](double x, unsigned) { return step(x); }); }},
      bench::way{"trace without them", 1.00, [] {
                   return thousand([](double x, unsigned) {
                     return overdub::run(contexts::trace_with<tracing::without<"step">>{}, step, x);
                   });
                 }});
}

// The other library is the baseline: a span is to take at most 1/8 and 1/6 of its time.
[[maybe_unused]] void against_others() {
  contexts::recording const all;
#if OVERDUB_BENCH_SPDLOG
  spdlog::init_thread_pool(8192, 1);
  auto const log = spdlog::create_async_nb<spdlog::sinks::basic_file_sink_mt>("spans", "/dev/null");
  bench::compare(
      "a thousand spans, against spdlog, which overwrites its oldest message when its thread lags",
      bench::way{
          "spdlog, async", 0,
          [&] {
            return thousand(
                between([&] { log->info("begin {}", "step"); }, [&] { log->info("end {}", "step"); }));
          }},
      bench::way{"trace", 1.0 / 8, [] { return thousand(traced); }});
  spdlog::shutdown();
#endif
#if OVERDUB_BENCH_LTTNG
  if (!lttng_ust_tracepoint_enabled(overdub_bench, span_begin))
    std::printf("LTTng records nothing; bench/README.md says how to make it\n");
  else
    bench::compare(
        "a thousand spans, against LTTng-UST, into its buffers",
        bench::way{
            "LTTng-UST", 0,
            [] {
              return thousand(between(
                  [] { lttng_ust_tracepoint(overdub_bench, span_begin, "step"); },
                  [] { lttng_ust_tracepoint(overdub_bench, span_end, "step"); }));
            }},
        bench::way{"trace", 1.0 / 6, [] { return thousand(traced); }});
#endif
}

// Writes a million recorded spans to a file.
void files() {
  constexpr long count = 1'000'000;
  contexts::recording all(2 * count);
  for (long i = 0; i < count / 1000; ++i) bench::use(thousand(traced));
  all.stop();
  std::printf("a million spans as a file, goals 32 bytes and 100 ns a span\n");
  struct format {
    char const* name;
    contexts::trace_format is;
    bool asked;
  };
  for (auto const& [name, is, asked] :
       {format{"Perfetto", contexts::trace_format::perfetto, true},
        format{"Chrome", contexts::trace_format::chrome, false},
        format{"folded stacks", contexts::trace_format::folded, false}}) {
    double best = 1e9;
    std::size_t bytes = 0;
    for (int i = 0; i < 7; ++i) {
      auto const start = std::chrono::steady_clock::now();
      all.write("/tmp/overdub_bench_trace", is);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      if (i == 0) bytes = all.text(is).size();
    }
    double const size = static_cast<double>(bytes) / count, time = best * 1e9 / count;
    std::printf("  %-44s %10.4g ns %10.4g bytes", name, time, size);
    if (asked) std::printf("  %s", size <= 32 && time <= 100 ? "pass" : "MISS");
    std::printf("\n");
  }
  std::remove("/tmp/overdub_bench_trace");
}

// Writes as many during recording: the program runs at the speed of the thread that writes them, and finish() waits for the rest.
void while_it_runs() {
  constexpr long count = 1'000'000;
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    auto const start = std::chrono::steady_clock::now();
    contexts::trace_file file("/tmp/overdub_bench_trace");
    for (long n = 0; n < count / 1000; ++n) bench::use(thousand(traced));
    file.finish();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::remove("/tmp/overdub_bench_trace");
  std::printf("  %-44s %10.4g ns\n", "Perfetto, while they are made", best * 1e9 / count);
}

} // namespace

int main() {
  spans();
  left_out();
  against_others();
  files();
  while_it_runs();
}
