// Draws by key are the same in any order, and on any number of threads.
#include "catch.hpp"

#include <overdub/distributions.hpp>

#include <cstddef>
#include <thread>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;

constexpr int count = 600;

std::vector<double> drawn_by(int threads, bool backwards) {
  std::vector<double> all(count);
  std::vector<std::thread> running;
  od::random_key const root = od::random_key(9).at("chain").transition(4);
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      for (int n = t; n < count; n += threads) {
        int const i = backwards ? count - 1 - n : n;
        od::random_key const key = root.at("x").at(i);
        all[static_cast<std::size_t>(i)] = draw(ds::gamma(0.3, 1), key) +
                                           draw(ds::normal(0, 1), key.at("y")) +
                                           static_cast<double>(draw(ds::poisson(40), key.at("n")));
      }
    });
  for (std::thread& t : running) t.join();
  return all;
}

} // namespace

TEST_CASE("draws by key depend on the key alone") {
  auto const one = drawn_by(1, false);
  CHECK(drawn_by(1, true) == one);
  for (int const threads : {2, 5}) CHECK(drawn_by(threads, threads == 5) == one);
  for (int i = 1; i < count; ++i)
    CHECK(one[static_cast<std::size_t>(i)] != one[static_cast<std::size_t>(i - 1)]);
}

TEST_CASE("a draw consumes the same numbers of its stream in each run") {
  od::random_key const key(3);
  od::random_generator once(key), twice(key);
  for (int i = 0; i < 100; ++i)
    CHECK(draw(ds::binomial(1000, 0.4), once) == draw(ds::binomial(1000, 0.4), twice));
  CHECK(once() == twice());
}
