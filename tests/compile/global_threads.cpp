// Global contexts of several threads: a context observes the calls of each thread that enables it, and of no other thread.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/compile/scoped_global.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/reverse.hpp>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace od = overdub;

inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x) * x + 1.0; });

struct doubling : od::context {
  auto overdub(od::sin_t, auto x) { return 2.0 * sin(x); }
};
// The observed sines, by their arguments, and the observed functions, by their names.
struct sines : od::context {
  std::vector<double> observed;
  std::vector<std::string> functions;
  void before(od::sin_t, double x) { observed.push_back(x); }
  void before(od::function auto f, auto const&...) { functions.emplace_back(f.name()); }
  sines fork() { return {}; }
  void join(sines&& other) {
    observed.insert(observed.end(), other.observed.begin(), other.observed.end());
    functions.insert(functions.end(), other.functions.begin(), other.functions.end());
  }
};

template <class F>
void in_threads(int count, F const& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& t : threads) t.join();
}

} // namespace

TEST_CASE("a global context observes all threads that enable it, and no other one") {
  auto const f = od::compile(od::compose(), wave, od::signature<double>);
  for (int round = 0; round < 10; ++round) {
    sines all;
    std::atomic<int> wrong{0};
    {
      od::shared_global everywhere(all);
      in_threads(6, [&](int thread) {
        double const x = thread + 0.5;
        if (thread < 4) {
          od::scoped_global const here(everywhere);
          for (int i = 0; i < 25; ++i) wrong += f(x) != std::sin(x) * x + 1.0;
        } else
          for (int i = 0; i < 25; ++i) wrong += f(x) != std::sin(x) * x + 1.0;
      });
    }
    CHECK(wrong == 0);
    CHECK(all.observed.size() == 100);
    for (double const x : all.observed) CHECK(x < 4.0);
    CHECK(all.functions == std::vector<std::string>(100, "wave"));
  }
}

TEST_CASE("a thread may disable and enable a global context repeatedly") {
  auto const f = od::compile(od::compose(), wave, od::signature<double>);
  od::contexts::count_of<od::sin_t> all;
  od::shared_global everywhere(all);
  in_threads(4, [&](int) {
    for (int i = 0; i < 10; ++i) {
      od::scoped_global const here(everywhere);
      (void)f(0.5);
    }
    (void)f(0.5); // not observed
  });
  CHECK(all(od::sin) == 40);
}

TEST_CASE("calls and gradients have the rules and hooks of the global contexts of the calling thread") {
  auto const f = od::compile(od::compose(), wave, od::signature<double>);
  sines all;
  doubling doubled;
  od::shared_global everywhere(all);
  od::shared_global twice(doubled);
  std::atomic<int> wrong{0};
  auto const slope = [](double x) { return std::cos(x) * x + std::sin(x); };
  in_threads(6, [&](int thread) {
    double const x = thread + 0.5;
    for (int i = 0; i < 10; ++i) {
      od::scoped_global const observed(everywhere);
      if (thread % 2 == 0) {
        od::scoped_global const rewritten(twice);
        wrong += f(x) != 2.0 * std::sin(x) * x + 1.0;
      } else
        wrong += f(x) != std::sin(x) * x + 1.0;
      wrong += !(std::abs(od::gradient(wave)(x) - slope(x)) < 1e-12);
    }
  });
  CHECK(wrong == 0);
  CHECK(all.observed.size() == 120); // in each call and each gradient
}
