// Times alternatives against a baseline: all run alternately in one process, many times, and the fastest rounds are compared, since other
// processes can only add time. It replaces operator new to count allocations, so that one source of a program may include it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

inline long allocations = 0;

/// Returns x, and hides its value from the optimiser.
template <class T>
[[gnu::always_inline]] inline T opaque(T x) {
  if constexpr (std::is_floating_point_v<T>)
    asm volatile("" : "+x"(x));
  else
    asm volatile("" : "+r"(x));
  return x;
}

/// The optimiser must assume that memory changes here.
[[gnu::always_inline]] inline void forget_memory() { asm volatile("" ::: "memory"); }

/// Keeps the optimiser from removing the computation of x.
template <class T>
[[gnu::always_inline]] inline void use(T const& x) {
  if constexpr (std::is_floating_point_v<T>)
    asm volatile("" : : "x"(x));
  else if constexpr (std::is_scalar_v<T>)
    asm volatile("" : : "r"(x));
  else
    asm volatile("" : : "r"(&x) : "memory");
}

/// The seconds of `times` calls of f. Not inlined, so that each f is compiled into a loop of its own.
template <class F>
[[gnu::noinline]] double seconds(F const& f, long times) {
  auto const start = std::chrono::steady_clock::now();
  for (long i = 0; i < times; ++i) use(f());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

enum class allocating { allowed, forbidden };

/// An alternative, and its goal: the largest ratio of its time to that of the first alternative; 0 for no goal.
template <class F>
struct way {
  char const* name;
  double goal;
  F run;
};
template <class F>
way(char const*, double, F) -> way<F>;

/// Times all alternatives and prints a row for each: its time, its ratio to the first one, and the goal.
template <allocating Allocating = allocating::allowed, class... F>
void compare(char const* question, way<F> const&... ways) {
  constexpr double sample = 1e-3; // seconds
  constexpr int rounds = 400, warming = 3;
  struct row {
    char const* name;
    double goal, best = std::numeric_limits<double>::infinity();
    long allocated = 0;
  };
  std::vector<row> rows{row{ways.name, ways.goal}...};

  // All alternatives make the same number of calls, as many as the slowest one makes in a sample, so that the loop costs the same for all.
  // The first rounds, which compile and allocate, do not count.
  long times = 1;
  auto slowest = [&] { return std::max({seconds(ways.run, times)...}); };
  auto slowest_of_two = [&] {
    double const once = slowest();
    return std::min(once, slowest());
  };
  while (slowest_of_two() < sample / 2 && times < (1L << 40)) times *= 2;
  for (int round = -warming; round < rounds; ++round) {
    auto turn = rows.begin();
    auto take = [&](auto const& way) {
      long const before = allocations;
      double const taken = seconds(way.run, times) / static_cast<double>(times);
      turn->allocated = (allocations - before) / times;
      if (round >= 0) turn->best = std::min(turn->best, taken);
      ++turn;
    };
    (take(ways), ...);
  }

  std::printf("%s\n", question);
  for (row const& r : rows) {
    double const ratio = r.best / rows.front().best;
    std::printf("  %-44s %10.4g ns %7.3f", r.name, r.best * 1e9, ratio);
    bool const too_slow = r.goal > 0 && ratio >= r.goal + 0.005; // goals have two digits
    bool const allocated = Allocating == allocating::forbidden && r.allocated > 0;
    if (r.goal > 0) std::printf("   goal %.2f  %s", r.goal, too_slow ? "MISS" : "pass");
    if (allocated) std::printf("   MISS: %ld allocations", r.allocated);
    std::printf("\n");
  }
  std::fflush(stdout);
}

} // namespace bench

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++bench::allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++bench::allocations;
  auto const align = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(align, (size + align - 1) / align * align)) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
