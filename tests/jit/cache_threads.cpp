// Everything concurrently: hits, misses, evictions, invalidations, redefinitions, swaps of machine code. Two seconds in an
// ordinary run; OVERDUB_STRESS_SECONDS sets the duration.
#include "catch.hpp"

#include <overdub/compile/library_call.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/jit/executor.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace od = overdub;
namespace ir = overdub::ir;
using od::i64;

// Adds its fingerprint to a number.
struct shifted : od::context {
  int by = 0;
  int fingerprint() const { return by; }
  static void before_optimise(ir::program& p, int by) {
    ir::function_id const f = p.entry;
    for (ir::cursor c(p, f); c.next();)
      if (c.code() == ir::op::add) c.set_operand(c.node(), 1, c.literal(std::int64_t{by}));
  }
};
inline constexpr auto plus = od::fn<"plus">([](auto x) { return x + i64{-1}; });

std::string text_of(i64 version) {
  return "func @g(%x: i64) -> i64 {\n  %y = mul %x, " + std::to_string(version) +
         " : i64\n  return %y\n}\nfunc @f(%x: i64) -> i64 {\n  %y = call @g(%x) : i64\n  return %y\n}\n";
}

} // namespace

TEST_CASE("eight threads use a full cache while a library changes and machine code is swapped") {
  char const* const asked = std::getenv("OVERDUB_STRESS_SECONDS");
  auto const end =
      std::chrono::steady_clock::now() + std::chrono::seconds(asked == nullptr ? 2 : std::atoi(asked));
  od::compilation_cache cache({.entries = 6});
  od::compile_options const options{
      .executor = od::jit::compiled({.optimisation = 0}), .hot_calls = 48, .cache = &cache};
  od::library of;
  std::atomic<i64> defined{1}, defining{1}; // the current version, and the one being defined
  of.define(text_of(1));
  auto const f = od::compile(od::compose(), of.function<i64(i64)>("f"), od::signature<i64>, options);

  std::atomic<long> wrong{0}, calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<std::uint64_t>(t));
      long made = 0;
      while (std::chrono::steady_clock::now() < end) {
        switch (random() % 16) {
        case 0: {
          shifted c;
          c.by = static_cast<int>(random() % 10);
          auto const h = od::compile(c, plus, od::signature<i64>, options);
          for (int i = 0; i < 100; ++i)
            if (h(i) != i + c.by) ++wrong;
          break;
        }
        case 1:
          if (t == 0) {
            i64 const next = defining + 1;
            defining = next;
            of.redefine(text_of(next));
            defined = next;
          } else if (t == 1 && random() % 64 == 0)
            cache.clear();
          break;
        default: {
          i64 const first = defined;
          i64 const given = f(1);
          if (given < first || given > defining) ++wrong;
        }
        }
        ++made;
      }
      calls += made;
    });
  for (std::thread& t : threads) t.join();
  od::wait_for_compilations();
  CHECK(wrong == 0);
  CHECK(calls > 1000);
  CHECK(f(1) == defined);
  CHECK(cache.statistics().entries <= 6);
}

TEST_CASE("eight threads on one cold key make one compilation") {
  for (int round = 0; round < 5; ++round) {
    od::compilation_cache cache;
    std::atomic<int> ready{0}, wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        for (++ready; ready < 8;) std::this_thread::yield();
        auto const f = od::compile(
            od::compose(), plus, od::signature<i64>,
            {.executor = od::jit::compiled(), .tiers = od::tiers::compile_now, .cache = &cache});
        if (f(2) != 1) ++wrong;
      });
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
    CHECK(cache.statistics().compilations == 1);
    CHECK(cache.statistics().hits + cache.statistics().misses == 8);
  }
}
