// Threads compile programs at once, and call one executable at once.
#include "cache_folder.hpp"
#include "execute/texts.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace overdub;

TEST_CASE("threads compile, call and destroy programs concurrently") {
  ir::program const p = texts::program(R"(func @f(%n: i64, %x: f64) -> f64 {
    %a = map %n (%i: i64) -> f64 { %c = convert %i : f64 %d = mul %c, %x : f64 yield %d }
    %s = reduce max %a from -1.0 : f64
    return %s
  })");
  executable const shared = jit::compile(p);
  std::vector<double> found(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) {
        executable const own = jit::compile(p);
        jit::function<double(i64, double)> const f(own);
        double const x = static_cast<double>(t) + 0.5;
        found[t] += own.call<double>(100, x) + shared.call<double>(100, x) + f(100, x);
      }
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t t = 0; t < found.size(); ++t) CHECK(found[t] == 15 * 99 * (static_cast<double>(t) + 0.5));
}

TEST_CASE("threads share a directory whose limit is below the size of their code") {
  cache_folder const folder;
  auto const cache = folder.open({.entries = 3});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 12; ++round) {
        int const by = (7 * round + t) % 5;
        ir::program const p = texts::program(
            "func @f(%x: f64) -> f64 { %y = add %x, " + std::to_string(by) + ".0 : f64 return %y }");
        if (jit::compile(p, {}, {.optimisation = 1, .cache = cache}).call<double>(1.0) != 1 + by) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  auto const counted = cache->statistics();
  CHECK(counted.hits + counted.misses == 48);
  CHECK(counted.rejected == 0);
  CHECK(counted.failures == 0);
}
