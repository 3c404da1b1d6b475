// The time of staging for each operation, from C++ to the canonical program, as programs grow: unrolled C++ loops and many calls. Also the
// time of rewriting the program in `forward`.
#include <overdub/contexts/forward.hpp>
#include <overdub/stage/evaluate.hpp>

#include <chrono>
#include <cstdio>

namespace {

using namespace overdub;

long repetitions = 0; // of the unrolled loop

constexpr auto unrolled = fn<"unrolled">([](auto x) {
  auto s = x;
  for (long i = 0; i < repetitions; ++i) s = s * x + 0.5;
  return s;
});

template <class F>
double fastest(F const& f) {
  double best = 1e9;
  for (int k = 0; k < 5; ++k) {
    auto const start = std::chrono::steady_clock::now();
    f();
    double const time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = time < best ? time : best;
  }
  return best;
}

} // namespace

int main() {
  std::printf("%12s %16s %24s\n", "operations", "staging, ns each", "under forward, ns each");
  for (long operations : {1'000L, 10'000L, 100'000L, 1'000'000L}) {
    repetitions = operations / 2;
    double const staging = fastest([] { (void)stage(unrolled, signature<double>); });
    ir::program const p = stage(unrolled, signature<double>);
    double const rewriting = fastest([&] { (void)overdub::overdub(contexts::forward{}, p); });
    std::printf(
        "%12ld %16.0f %24.0f\n", operations, staging * 1e9 / static_cast<double>(operations),
        rewriting * 1e9 / static_cast<double>(operations));
  }
}
