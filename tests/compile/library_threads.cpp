// Worlds and threads: each call has the result of its world, while other threads define and call functions.
#include "catch.hpp"

#include <overdub/compile/library_call.hpp>

#include <array>
#include <atomic>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;

constexpr int functions = 5;

// Function k returns a + the sum of the results of its callees, which have higher numbers.
struct definition {
  i64 number = 0;
  std::array<bool, functions> calls{};
};
using model = std::array<definition, functions>;

i64 value_of(model const& m, int k, i64 x) {
  i64 sum = m[static_cast<std::size_t>(k)].number + x;
  for (int other = k + 1; other < functions; ++other)
    if (m[static_cast<std::size_t>(k)].calls[static_cast<std::size_t>(other)]) sum += value_of(m, other, x);
  return sum;
}
std::string name(int k) { return "f" + std::to_string(k); }
std::string text_of(definition const& d, int k) {
  std::string text =
      "func @" + name(k) + "(%x: i64) -> i64 {\n  %s = add %x, " + std::to_string(d.number) + " : i64\n";
  std::string last = "%s";
  for (int other = k + 1; other < functions; ++other) {
    if (!d.calls[static_cast<std::size_t>(other)]) continue;
    std::string const n = std::to_string(other);
    text += "  %c" + n + " = call @" + name(other) + "(%x) : i64\n  %t" + n + " = add " + last + ", %c" + n +
            " : i64\n";
    last = "%t" + n;
  }
  return text + "  return " + last + "\n}\n";
}
definition random_definition(std::mt19937_64& random) {
  definition d;
  d.number = static_cast<i64>(random() % 3);
  for (bool& c : d.calls) c = random() % 3 == 0;
  return d;
}

} // namespace

TEST_CASE("each call has the result of its world during concurrent redefinitions") {
  for (int round = 0; round < 4; ++round) {
    od::library of;
    od::compilation_cache cache({.entries = 8});
    std::mutex history_mutex;
    std::vector<model> history; // indexed by world
    std::mt19937_64 start(static_cast<std::uint64_t>(round));
    model now;
    std::string all;
    for (int k = 0; k < functions; ++k) {
      now[static_cast<std::size_t>(k)] = random_definition(start);
      all += text_of(now[static_cast<std::size_t>(k)], k);
    }
    of.define(all);
    REQUIRE(of.world() == 1);
    history.assign(2, now);

    std::atomic<int> wrong{0}, calls{0};
    std::atomic<bool> ends{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        std::mt19937_64 random(static_cast<std::uint64_t>(100 * round + t));
        std::vector<od::compiled_in_library<i64, od::types<i64>, od::composition<>>> handles;
        for (int k = 0; k < functions; ++k)
          handles.push_back(od::compile(
              od::compose(), of.function<i64(i64)>(name(k)), od::signature<i64>, {.cache = &cache}));
        while (!ends) {
          int const k = static_cast<int>(random() % functions);
          i64 const x = static_cast<i64>(random() % 10);
          std::uint64_t const before = of.world();
          i64 const given = handles[static_cast<std::size_t>(k)](x);
          std::uint64_t const after = of.world();
          bool is_right = false;
          while (!is_right) {
            std::lock_guard const lock(history_mutex);
            if (history.size() <= after) continue; // another thread will append it soon
            for (std::uint64_t w = before; w <= after; ++w)
              is_right = is_right || value_of(history[w], k, x) == given;
            break;
          }
          if (!is_right) ++wrong;
          ++calls;
        }
      });
    for (int change = 0; change < 150; ++change) {
      int const k = static_cast<int>(start() % functions);
      definition const d = random_definition(start);
      model next = now;
      next[static_cast<std::size_t>(k)] = d;
      std::uint64_t const world = of.world();
      of.redefine(text_of(d, k));
      if (of.world() != world) {
        now = next;
        std::lock_guard const lock(history_mutex);
        history.push_back(now);
      }
      if (change % 10 == 0) std::this_thread::yield();
    }
    ends = true;
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
    CHECK(calls > 0);
    CHECK(cache.statistics().entries <= 8);
    auto const last =
        od::compile(od::compose(), of.function<i64(i64)>("f0"), od::signature<i64>, {.cache = &cache});
    CHECK(last(7) == value_of(now, 0, 7));
  }
}
