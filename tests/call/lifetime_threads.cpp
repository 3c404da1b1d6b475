// Checked builds: other threads use values during their run, and after it.
#include "catch.hpp"

#include <overdub/control/parallel.hpp>
#include <overdub/overdub.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <vector>

namespace {

namespace od = overdub;

struct counter : od::context {
  std::atomic<int> calls = 0;
  void before(od::callee auto, auto const&...) { ++calls; }
};
using value = od::value<double, counter>;

bool fails(std::function<void()> const& use) {
  try {
    use();
    return false;
  } catch (od::escaped_value const&) {
    return true;
  }
}

TEST_CASE("another thread can use a value until the run of the value ends") {
  std::promise<value> handed;
  std::promise<bool> failed_within;
  std::promise<void> ended;
  bool failed_behind = false;
  std::thread other([&] {
    value const x = handed.get_future().get();
    failed_within.set_value(fails([&] { (void)(x + 1.0); }));
    ended.get_future().get();
    failed_behind = fails([&] { (void)(x + 1.0); });
  });
  {
    counter c;
    od::run(
        c,
        [&](auto x) {
          handed.set_value(x);
          CHECK_FALSE(failed_within.get_future().get());
          return x;
        },
        3.0);
    CHECK(c.calls == 1);
  }
  ended.set_value();
  other.join();
  CHECK(failed_behind);
}

TEST_CASE("concurrent threads distinguish their runs") {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        counter c;
        std::optional<value> kept;
        double const y = od::run(
            c,
            [&](auto x) {
              if (kept && !fails([&] { (void)(*kept + 1.0); })) ++wrong;
              kept = x;
              return x * x + x;
            },
            3.0);
        if (y != 12.0 || c.calls != 2) ++wrong;
        if (!fails([&] { (void)(*kept + 1.0); })) ++wrong;
      }
    });
  for (std::thread& t : all) t.join();
  CHECK(wrong == 0);
}

struct forked : od::context {
  std::vector<int> calls = std::vector<int>(1);
  void before(od::callee auto, auto const&...) { ++calls[0]; }
  forked fork() const { return {}; }
  void join(forked&& other) { calls[0] += other.calls[0]; }
};

std::optional<od::value<double, forked>> kept_in_map[8];

TEST_CASE("a context that was forked for a thread does not exist after the map") {
  forked c;
  auto const doubled = od::run(
      c,
      [](auto xs) {
        auto const ys = od::parallel_map.on(4)(
            [](auto x) {
              kept_in_map[static_cast<int>(od::concrete(x))] = x;
              return x + x;
            },
            xs);
        for (auto const& kept : kept_in_map) CHECK(fails([&] { (void)(*kept + 1.0); }));
        return ys;
      },
      od::array<double>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(doubled[7] == 14.0);
  CHECK(c.calls[0] >= 8);
}

} // namespace
