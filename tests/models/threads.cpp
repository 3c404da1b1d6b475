// One model on several threads: draws depend on the keys alone, and programs are compiled once.
#include "catch.hpp"
#include "models/example_models.hpp"

#include <cstddef>
#include <thread>
#include <vector>

namespace {

using namespace example_models;

constexpr std::size_t count = 24;

// The results of all operations, forwards or in reverse order, on one thread or several.
template <class Model>
std::vector<double> results(Model const& m, std::size_t threads, bool backwards) {
  std::vector<double> all(count);
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      for (std::size_t n = t; n < count; n += threads) {
        std::size_t const i = backwards ? count - 1 - n : n;
        od::random_key const key = od::random_key(5).at(static_cast<i64>(i));
        ms::trace const s = m.simulate(key.at("simulate"));
        auto const g = m.generate({{"slope", 0.5}}, key.at("generate"));
        auto const u = m.update(s, {{"y[1]", 2.0}}, key.at("update"));
        auto const r = m.regenerate(u.of, {"sd"}, key.at("regenerate"));
        all[i] = m.assess(r.of.choices()).score() + g.weight + u.weight + r.weight +
                 ms::project(g.of, {"y"}) + ms::choice_gradients(s, {"sd"}).template get<double>("sd");
      }
    });
  for (std::thread& t : running) t.join();
  return all;
}

} // namespace

TEST_CASE("operations return the same on any number of threads, in any order") {
  vec const xs{1, 2, 3};
  auto const together = results(ms::model(line, xs), 4, false); // which compile the programs, too
  auto const m = ms::model(line, xs);
  std::size_t const programs = m.core()->programs();
  CHECK(results(m, 1, false) == together);
  CHECK(results(m, 1, true) == together);
  CHECK(results(m, 4, true) == together);
  CHECK(m.core()->programs() == programs);
}

TEST_CASE("models of one function are made on several threads, and share its programs") {
  std::vector<ms::shared_core> cores(4);
  std::vector<std::thread> running;
  for (ms::shared_core& each : cores)
    running.emplace_back([&each] { each = ms::model(kinds, i64{3}).core(); });
  for (std::thread& t : running) t.join();
  for (ms::shared_core const& each : cores) CHECK(each == cores[0]);
}

TEST_CASE("a trace is read by several threads") {
  auto const m = ms::model(kinds, i64{50});
  ms::trace const t = m.simulate(od::random_key(3));
  ms::choice_map const expected = t.choices();
  std::vector<char> same(4, 0);
  std::vector<std::thread> running;
  for (char& each : same)
    running.emplace_back(
        [&] { each = t.choices() == expected && m.assess(t.choices()).score() == t.score(); });
  for (std::thread& t2 : running) t2.join();
  for (char const each : same) CHECK(each == 1);
}
