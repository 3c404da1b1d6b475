// Many threads compile and call concurrently.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/ir/parse.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace od = overdub;
using od::artifact;

char const type = 0;

template <class F>
void in_threads(int count, F const& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& t : threads) t.join();
}

std::atomic<int> passes{0};
struct shaped : od::context {
  int shape = 0;
  int fingerprint() const { return shape; }
  static void before_optimise(od::ir::program&, int) { ++passes; }
};
inline constexpr auto square = od::fn<"square">([](auto x) { return x * x; });

} // namespace

TEST_CASE("one thread compiles, however many threads miss concurrently") {
  for (int round = 0; round < 20; ++round) {
    od::compilation_cache cache;
    std::atomic<int> compilations{0}, right{0};
    in_threads(4, [&](int) {
      auto const a = cache.get({&type, "k"}, "f", [&] {
        ++compilations;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return std::make_shared<artifact const>(
            od::recipe{.name = "f", .staged = od::ir::parse("entry @f\nfunc @f() -> i64 { return 7 }")});
      });
      if (a->run().call<od::i64>() == 7) ++right;
    });
    CHECK(right == 4);
    CHECK(compilations == 1);
    CHECK(cache.statistics().compilations == 1);
  }
}

TEST_CASE("an exception reaches every waiter") {
  od::compilation_cache cache;
  std::atomic<int> caught{0}, compilations{0};
  in_threads(4, [&](int) {
    try {
      (void)cache.get({&type, "k"}, "f", [&]() -> std::shared_ptr<artifact const> {
        ++compilations;
        while (cache.statistics().misses < 4) std::this_thread::yield(); // all of them wait, or will soon
        throw std::runtime_error("no");
      });
    } catch (std::runtime_error const&) {
      ++caught;
    }
  });
  CHECK(caught == 4);
  CHECK(compilations == 1);
  CHECK(cache.statistics().entries == 0);
}

TEST_CASE("a full cache that many threads clear and fill returns correct results") {
  od::compilation_cache cache({.entries = 5});
  std::atomic<int> wrong{0};
  in_threads(4, [&](int thread) {
    for (int i = 0; i < 200; ++i) {
      int const n = (i * 7 + thread) % 13;
      auto const a = cache.get({&type, std::to_string(n)}, "f", [&] {
        std::string const text = "entry @f\nfunc @f() -> i64 { return " + std::to_string(n) + " }";
        return std::make_shared<artifact const>(od::recipe{.name = "f", .staged = od::ir::parse(text)});
      });
      if (a->run().call<od::i64>() != n) ++wrong;
      if (i % 50 == 49 && thread == 0) cache.clear();
    }
  });
  CHECK(wrong == 0);
  CHECK(cache.statistics().entries <= 5);
}

TEST_CASE("contexts of one fingerprint in many threads share one program") {
  passes = 0;
  in_threads(4, [&](int) {
    shaped c;
    for (int i = 0; i < 100; ++i) {
      c.shape = i % 3;
      if (od::run(c, square, 3.0) != 9.0) std::abort();
    }
  });
  CHECK(passes == 3);
}

TEST_CASE("threads whose compilations require each other do not deadlock") {
  for (int round = 0; round < 10; ++round) {
    od::compilation_cache cache;
    std::atomic<int> refused{0}, inside{0};
    in_threads(2, [&](int thread) {
      auto const get = [&](int n, auto const& before) {
        return cache.get({&type, std::to_string(n)}, "f", [&] {
          before();
          return std::make_shared<artifact const>(
              od::recipe{.name = "f", .staged = od::ir::parse("entry @f\nfunc @f() -> i64 { return 7 }")});
        });
      };
      try {
        (void)get(thread, [&] {
          for (++inside; inside < 2;) std::this_thread::yield();
          (void)get(1 - thread, [] {});
        });
      } catch (od::recursive_compilation const&) {
        ++refused;
      }
    });
    CHECK(refused >= 1);
  }
}
