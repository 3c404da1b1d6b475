// The cost of calling a compiled function. The derivative of sin(x + 1), written by hand and called through a function pointer,
// against the handle that `compile` returns, interpreted and as machine code; overdub(context, f, x), which looks the program up by
// its fingerprint, against the handle; and two threads that call one program.
#include "ratio.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

#if OVERDUB_BENCH_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

namespace {

inline constexpr auto slope_of_wave = overdub::fn<"slope_of_wave">(
    [](auto x) { return overdub::derivative([](auto y) { return sin(y + 1.0); }, x); });
inline constexpr auto wave = overdub::fn<"wave">([](auto x) { return sin(x + 1.0); });

#if OVERDUB_BENCH_JIT
overdub::compile_options const machine_code{
    .executor = overdub::jit::compiled(), .tiers = overdub::tiers::compile_now};
#endif

// A context with a fingerprint, so that calls in it are compiled.
struct shaped : overdub::context {
  int shape = 0;
  int fingerprint() const { return shape; }
#if OVERDUB_BENCH_JIT
  static void options(overdub::compile_options& o) { o = machine_code; }
#endif
};

double slope(double x) { return std::cos(x + 1.0); }

// Calls a second, summed over all threads.
template <class F>
double calls_a_second(int threads, F const& call) {
  constexpr long calls = 2'000'000;
  std::vector<std::thread> all;
  auto const start = std::chrono::steady_clock::now();
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&call] {
      for (long i = 0; i < calls; ++i) bench::use(call(1.0 + static_cast<double>(i & 7)));
    });
  for (std::thread& t : all) t.join();
  double const taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return static_cast<double>(calls) * threads / taken;
}

} // namespace

int main() {
  using overdub::tag;
  auto* volatile pointer = &slope;
  double x = 2;
  auto const interpreted = overdub::compile(overdub::compose(), slope_of_wave, overdub::signature<double>);
#if OVERDUB_BENCH_JIT
  auto const handle =
      overdub::compile(overdub::compose(), slope_of_wave, overdub::signature<double>, machine_code);
#endif
  shaped c;
  auto const shaped_handle = overdub::compile(c, wave, overdub::signature<double>);

  bench::compare<bench::allocating::forbidden>(
      "the derivative of sin(x + 1)",
      bench::way{"by hand, through a pointer", 0, [&] { return pointer(bench::opaque(x)); }},
#if OVERDUB_BENCH_JIT
      bench::way{"the compiled handle", 1.15, [&] { return handle(bench::opaque(x)); }},
#endif
      bench::way{"the handle, interpreted", 0, [&] { return interpreted(bench::opaque(x)); }});
  bench::compare<bench::allocating::forbidden>(
      "sin(x + 1) in a context with a fingerprint",
      bench::way{"the compiled handle", 0, [&] { return shaped_handle(bench::opaque(x)); }},
      bench::way{"overdub(context, f, x)", 0, [&] { return overdub::overdub(c, wave, bench::opaque(x)); }});

  double one = 0, two = 0;
  for (int round = 0; round < 5; ++round) {
    one = std::max(one, calls_a_second(1, [&](double y) { return shaped_handle(y); }));
    two = std::max(two, calls_a_second(2, [&](double y) { return shaped_handle(y); }));
  }
  std::printf(
      "two threads on one program: %.2f times one thread     goal 1.9  %s\n", two / one,
      two / one >= 1.9 ? "pass" : "MISS");
}
