// Several threads start contexts with passes inside of other runs, and call gradients in contexts.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/reverse.hpp>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

namespace od = overdub;

inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x) * x; });

// The number of sines that become cosines.
struct turning : od::context {
  int turned = 0;
  int fingerprint() const { return turned; }
  static void before_optimise(od::ir::program& p, int turned) {
    for (std::uint32_t f = 0; f < p.functions.size(); ++f)
      for (od::ir::cursor c(p, od::ir::function_id{f}); c.next();)
        if (c.code() == od::ir::op::sin && turned-- > 0)
          c.replace(c->result(c.insert(od::ir::op::cos, {c.operand(0)})));
  }
};
struct observing : od::context {
  int products = 0;
  void before(od::mul_t, auto const&...) { ++products; }
};

} // namespace

TEST_CASE("threads share the programs of each fingerprint, and each thread has its own contexts") {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&wrong, i] {
        turning t;
        observing h;
        auto const inner = [&](auto x) { return od::run(t, wave, x); };
        for (int k = 0; k < 6; ++k) {
          double const x = 0.25 * (i + 1);
          t.turned = (i + k) % 2;
          wrong += od::run(h, inner, x) != (t.turned ? std::cos(x) : std::sin(x)) * x;
          double const slope = t.turned ? std::cos(x) - x * std::sin(x) : std::sin(x) + x * std::cos(x);
          wrong += !(std::abs(od::gradient(t, wave)(x) - slope) < 1e-12);
        }
        wrong += h.products != 6;
      });
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
  }
}
