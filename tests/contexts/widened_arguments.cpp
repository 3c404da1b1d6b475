// C++ arguments that are widened: integers of other sizes, and vectors.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/incremental.hpp>
#include <overdub/models/model.hpp>
#include <overdub/overdub.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;
using od::i64;
using numbers = od::array<double>;

constexpr auto grouped =
    od::fn<"grouped">([](od::scope auto& cx, auto n, auto const& group, auto const& trials) {
      auto const effects =
          cx(od::tabulate, n, [&](auto) { return cx(od::sample<"effect">, ds::beta(2, 2)); });
      return od::map(
          [&](auto g, auto t) { return cx(od::sample<"y">, ds::binomial(t, effects[g])); }, group, trials);
    });
constexpr auto head = od::fn<"head">([](auto const& rows, auto n, auto by) {
  return od::convert<double>(by) * od::sum(od::tabulate(n, [&](auto i) { return od::sum(rows[i]); }));
});
constexpr auto scaled =
    od::fn<"scaled">([](od::scope auto& cx, auto sd) { return cx(od::sample<"x">, ds::normal(0, sd)); });

} // namespace

TEST_CASE("models and choice maps accept integers of all sizes and vectors") {
  od::random_key const key(3);
  std::vector<std::size_t> const group{0, 1, 1};
  auto const m = ms::model(grouped, 2, group, od::array<int>{5, 6, 7});
  auto const wide = ms::model(grouped, i64{2}, od::array<i64>{0, 1, 1}, od::array<i64>{5, 6, 7});
  CHECK(m.core() == wide.core());
  CHECK(m.simulate(key).choices() == wide.simulate(key).choices());
  std::vector<int> const y{3, 2, 4};
  std::vector<double> const effects{0.25, 0.5};
  CHECK(
      m.assess({{"effect", effects}, {"y", y}}).score() ==
      wide.assess({{"effect", numbers{0.25, 0.5}}, {"y", od::array<i64>{3, 2, 4}}}).score());
  CHECK(
      m.with(3, std::vector<int>{2}, std::vector<int>{9}).simulate(key).choices() ==
      wide.with(i64{3}, od::array<i64>{2}, od::array<i64>{9}).simulate(key).choices());
  CHECK(
      m.with(1, {0, 0}, {3, 4}).simulate(key).choices() ==
      wide.with(1, {0, 0}, {3, 4}).simulate(key).choices());
  CHECK(ms::model(scaled, 3).simulate(key).choices() == ms::model(scaled, i64{3}).simulate(key).choices());
  CHECK_THROWS_WITH(ms::model(scaled, -3).simulate(key), Catch::Contains("sd is -3"));
}

TEST_CASE("incremental accepts integers of all sizes and vectors") {
  std::vector<std::vector<double>> const rows{{1, 2}, {3, 4}, {5, 6}};
  auto f = od::incremental(head, rows, 2, 3);
  CHECK(f.value() == 30);
  f.set<1>(3u);
  CHECK(f.propose() == 63);
  f.set<0>(std::vector<std::vector<double>>{{1}, {1}, {1}});
  CHECK(f.propose() == 9);
  f.commit();
  f.append<0>(std::vector<double>{7});
  f.set<1>(4);
  f.commit();
  CHECK(f.value() == 30);
  CHECK(f.get<1>() == 4);
  constexpr auto half = od::fn<"half">([](auto x, auto n) { return x * 0.5 + od::convert<double>(n); });
  auto g = od::incremental(half, 1.0, 1);
  g.set<0>(std::uint64_t{1} << 63);
  g.set<1>('a');
  CHECK(g.propose() == 0x1p62 + 97);
}
