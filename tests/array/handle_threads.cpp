// Several threads copy, drop and update handles of one array.
#include "catch.hpp"

#include <overdub/overdub.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace od = overdub;
using od::i64;

namespace {

template <class F>
void on_threads(int n, F const& f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t) threads.emplace_back(f, t);
  for (auto& thread : threads) thread.join();
}

} // namespace

TEST_CASE("eight threads copy and drop handles, and the elements survive") {
  od::array<double> const xs{1, 2, 3, 4};
  std::atomic<int> wrong = 0;
  on_threads(8, [&](int) {
    for (int i = 0; i < 2000; ++i) {
      od::array<double> const copy = xs;
      od::array<double> another;
      another = copy;
      if (another[i % 4] != 1.0 + i % 4) ++wrong;
    }
  });
  CHECK(wrong == 0);
  CHECK(xs.unique());
}

TEST_CASE("each thread updates its own copy, and no other handle changes") {
  auto const xs = od::iota(100);
  std::atomic<int> wrong = 0;
  on_threads(8, [&](int t) {
    od::array<i64> mine = xs;
    for (i64 i = 0; i < 100; ++i) mine = od::update(std::move(mine), i, i * t);
    for (i64 i = 0; i < 100; ++i)
      if (mine[i] != i * t) ++wrong;
  });
  CHECK(wrong == 0);
  CHECK(xs == od::iota(100));
}

TEST_CASE("the last thread that drops a handle destroys the elements, once") {
  static std::atomic<int> alive = 0;
  struct counted {
    counted() { ++alive; }
    counted(counted const&) { ++alive; }
    counted& operator=(counted const&) = default;
    ~counted() { --alive; }
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<od::array<counted>> handles(8, od::array<counted>{counted{}, counted{}, counted{}});
    CHECK(alive == 3);
    on_threads(8, [&](int t) { handles[static_cast<std::size_t>(t)] = {}; });
    CHECK(alive == 0);
  }
}

TEST_CASE(
    "a handle that becomes unique on one thread may be updated in place after another dropped its own") {
  for (int round = 0; round < 200; ++round) {
    od::array<i64> mine = od::iota(8);
    std::thread reader([theirs = mine]() mutable {
      i64 const sum = od::sum(theirs);
      theirs = {};
      if (sum != 28) std::terminate();
    });
    for (i64 i = 0; i < 8; ++i) mine = od::update(std::move(mine), i, i64{-1});
    reader.join();
    CHECK(od::sum(mine) == -8);
  }
}
