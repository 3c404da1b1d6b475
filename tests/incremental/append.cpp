// incremental: appended elements. The appended iterations run, and no others.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/distributions.hpp>
#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
namespace dist = overdub::distributions;
using od::i64;
using numbers = od::array<double>;
using indices = od::array<i64>;

constexpr auto clusters = od::fn<"clusters">([](auto z, auto x, auto means) {
  auto const point = [&](auto k, auto y) { return dist::log_density(dist::normal(means[k], 1.0), y); };
  return od::sum(od::map(point, z, x));
});
constexpr auto walk = od::fn<"walk">([](auto x) {
  return od::sum(od::tabulate(od::size(x) - 1, [&](auto t) {
    auto const d = x[t + 1] - x[t];
    return d * d;
  }));
});
constexpr auto smoothed = od::fn<"smoothed">([](auto u) {
  auto const both = od::scan(
      [](auto s, auto e) {
        auto const next = 0.5 * s + e;
        return std::tuple{next, next};
      },
      0.25, u);
  return std::get<1>(both);
});
constexpr auto rows_of = od::fn<"rows_of">([](auto m, auto w) {
  return od::sum(od::map(
      [&](auto row) { return od::sum(od::map([](auto a, auto b) { return exp(a * b); }, row, w)); }, m));
});

std::vector<double> list(numbers const& x) { return {x.begin(), x.end()}; }
numbers with(numbers const& x, double last) { return od::concat(x, numbers{last}); }

} // namespace

TEST_CASE("an appended element runs one iteration, and adds to the sum") {
  for (od::compile_options const& o : executors()) {
    indices z{0, 1, 1};
    numbers x{-0.5, 0.5, 1.5};
    numbers const means{0.0, 1.0};
    auto f = od::incremental(o, clusters, z, x, means);
    f.append<0>(0);
    f.append<1>(0.25);
    double const before = f.value(), proposed = f.propose();
    CHECK(
        f.explain() ==
        "%5 = map: one appended iteration\n%15 = reduce: updated by the difference\n7 other operations\n");
    CHECK(f.value() == before);
    CHECK(f.difference() == Approx(proposed - before).epsilon(1e-12));
    f.rollback();
    CHECK(f.propose() == before);

    for (int k = 0; k < 100; ++k) {
      f.append<0>(k % 2);
      f.append<1>(k / 64.0);
      f.commit();
      z = od::concat(z, indices{k % 2});
      x = with(x, k / 64.0);
    }
    CHECK(f.value() == Approx(clusters(z, x, means)).epsilon(1e-12));
    // Later updates affect appended elements, and what they read.
    f.set_at<2>(1, 2.0);
    f.commit();
    f.set_at<0>(102, 0);
    f.commit();
    f.append<0>(1);
    f.append<1>(9.0);
    f.commit();
    f.set_at<2>(1, 3.0);
    f.propose();
    CHECK(f.explain().find(": a list of iterations\n") != std::string::npos);
    f.commit();
    z = od::concat(od::update(z, 102, i64{0}), indices{1});
    CHECK(f.value() == Approx(clusters(z, with(x, 9.0), numbers{0.0, 3.0})).epsilon(1e-12));
  }
}

TEST_CASE("neighbours of appended elements, and loops that continue") {
  for (od::compile_options const& o : executors()) {
    numbers x{1.0, 4.0, 9.0};
    auto steps = od::incremental(o, walk, x);
    auto states = od::incremental(o, smoothed, x);
    states.set_at<0>(1, 4.5); // loop-carried values are saved
    states.rollback();
    for (int k = 0; k < 20; ++k) {
      double const u = 16.0 - 0.75 * k;
      steps.append<0>(u);
      states.append<0>(u);
      x = with(x, u);
      if (k % 3 == 0) { // two at once
        steps.append<0>(0.5);
        states.append<0>(0.5);
        x = with(x, 0.5);
      }
      (void)steps.propose();
      CHECK(steps.explain().find(": one appended iteration") != std::string::npos);
      CHECK(steps.explain().find("recomputed in full") == std::string::npos);
      steps.commit();
      states.propose();
      CHECK(states.explain().find(": one appended iteration") != std::string::npos);
      CHECK(states.explain().find("recomputed in full") == std::string::npos);
      states.commit();
      CHECK(steps.value() == Approx(walk(x)).epsilon(1e-12));
      CHECK(list(states.value()) == list(smoothed(x)));
      states.set_at<0>(k, 0.25 * k);
      states.commit();
      x = od::update(x, k, 0.25 * k);
      steps.set_at<0>(k, 0.25 * k);
      steps.commit();
      CHECK(list(states.value()) == list(smoothed(x)));
      CHECK(steps.value() == Approx(walk(x)).epsilon(1e-12));
    }
  }
}

TEST_CASE("an append does not change elements that were there before") {
  constexpr auto from_first = od::fn<"from_first">([](auto x) {
    auto const first = x[0];
    return od::sum(od::map([&](auto e) { return e - first; }, x));
  });
  auto f = od::incremental(from_first, numbers{1.0, 2.0});
  f.append<0>(4.0);
  CHECK(f.propose() == 4.0);
  CHECK(f.explain().find("recomputed in full") == std::string::npos);
}

TEST_CASE("rows are appended to arrays of arrays") {
  for (od::compile_options const& o : executors()) {
    od::array<numbers> m{numbers{0.1, 0.2}, numbers{0.3, 0.4}};
    numbers const w{1.0, -1.0};
    auto f = od::incremental(o, rows_of, m, w);
    for (int k = 0; k < 5; ++k) {
      numbers const row{0.5 * k, 0.25};
      f.append<0>(row);
      f.set_at<0>(2 + k, 1, 0.125); // of an appended row
      (void)f.propose();
      CHECK(f.explain().find(": one appended iteration\n") != std::string::npos);
      f.commit();
      m = od::concat(m, od::array<numbers>{numbers{0.5 * k, 0.125}});
      CHECK(f.value() == Approx(rows_of(m, w)).epsilon(1e-12));
      f.set_at<0>(1 + k, 0, 0.75);
      f.commit();
      m = od::update(m, 1 + k, od::update(m[1 + k], 0, 0.75));
      CHECK(f.value() == Approx(rows_of(m, w)).epsilon(1e-12));
    }
    f.append<0>(numbers{1.0, 2.0});
    CHECK_THROWS_WITH(
        f.append<0>(numbers{1.0}), "overdub: input 0 has rows of size 2, and was given one of size 1 more");
    f.commit();
    CHECK(f.value() == Approx(rows_of(od::concat(m, od::array<numbers>{numbers{1.0, 2.0}}), w)));
  }
}

TEST_CASE("lists of any length are appended") {
  for (od::compile_options const& o : executors()) {
    numbers x{1.0, 4.0, 9.0}, y{0.5, 0.25};
    indices z{0, 1};
    numbers const means{0.0, 1.0};
    od::array<numbers> m{numbers{0.1, 0.2}, numbers{0.3, 0.4}};
    numbers const w{1.0, -1.0};
    auto steps = od::incremental(o, walk, x);
    auto states = od::incremental(o, smoothed, x);
    auto points = od::incremental(o, clusters, z, y, means);
    auto table = od::incremental(o, rows_of, m, w);
    states.set_at<0>(1, 4.5); // loop-carried values are saved
    states.rollback();
    std::size_t programs = 0;
    for (int k = 0; k < 12; ++k) {
      numbers const x_then = x, y_then = y;
      indices const z_then = z;
      od::array<numbers> const m_then = m;
      int const count = 5 + k * 7 % 20;
      for (int i = 0; i < count; ++i) {
        double const e = 0.125 * (i * 5 % 7) - 0.25 * k;
        x = with(x, e);
        y = with(y, e);
        z = od::concat(z, indices{i % 2});
        m = od::concat(m, od::array<numbers>{numbers{0.1 * e, -e}});
        steps.append<0>(e);
        states.append<0>(e);
        points.append<0>(i % 2);
        points.append<1>(e);
        table.append<0>(numbers{0.1 * e, -e});
      }
      table.set_at<0>(m.size() - 1, 1, 0.5); // of an appended row
      m = od::update(m, m.size() - 1, numbers{m[m.size() - 1][0], 0.5});
      auto const propose = [](auto& f) {
        f.propose();
        INFO(f.explain());
        CHECK(f.explain().find(": the appended iterations\n") != std::string::npos);
        CHECK(f.explain().find("recomputed in full, since") == std::string::npos);
      };
      propose(steps), propose(states), propose(points), propose(table);
      if (k % 4 == 1) {
        steps.rollback(), states.rollback(), points.rollback(), table.rollback();
        x = x_then, y = y_then, z = z_then, m = m_then;
      } else {
        steps.commit(), states.commit(), points.commit(), table.commit();
      }
      CHECK(steps.value() == Approx(walk(x)).epsilon(1e-12));
      CHECK(list(states.value()) == list(smoothed(x)));
      CHECK(points.value() == Approx(clusters(z, y, means)).epsilon(1e-12));
      CHECK(table.value() == Approx(rows_of(m, w)).epsilon(1e-12));
      // Later updates affect appended elements.
      i64 const last = x.size() - 2;
      steps.set_at<0>(last, 0.75), steps.commit();
      states.set_at<0>(last, 0.75), states.commit();
      x = od::update(x, last, 0.75);
      table.set_at<0>(m.size() - 2, 0, 0.25), table.commit();
      m = od::update(m, m.size() - 2, numbers{0.25, m[m.size() - 2][1]});
      CHECK(steps.value() == Approx(walk(x)).epsilon(1e-12));
      CHECK(list(states.value()) == list(smoothed(x)));
      CHECK(table.value() == Approx(rows_of(m, w)).epsilon(1e-12));
      if (k == 1) programs = points.program().update_programs().count();
    }
    CHECK(points.program().update_programs().count() == programs);
  }
}

TEST_CASE("maps with fewer iterations than elements get appended iterations once they have any") {
  auto const bends = od::fn<"bends">([](auto const& x) {
    return od::sum(od::tabulate(od::size(x) - 2, [&](auto t) {
      auto const d = x[t + 2] - 2.0 * x[t + 1] + x[t];
      return d * d;
    }));
  });
  for (od::compile_options const& o : executors()) {
    numbers x{1.0, 4.0};
    auto f = od::incremental(o, bends, x);
    for (int k = 0; k < 20; ++k) {
      for (int i = k % 7; i >= 0; --i) {
        double const e = 0.5 * (k * 5 % 11) - 0.25 * i;
        f.append<0>(e);
        x = with(x, e);
      }
      f.propose();
      CHECK(f.explain().find("recomputed in full") == std::string::npos);
      f.commit();
      REQUIRE(f.value() == Approx(bends(x)).epsilon(1e-12));
    }
  }
  // With one element the trip count would be negative.
  auto const second_differences = od::fn<"second_differences">([](auto const& x) {
    auto const n = od::size(x) - 2;
    return od::if_(
        n > 0, [&] { return od::sum(od::tabulate(n, [&](auto t) { return x[t + 2] * x[t]; })); },
        [&] { return x[0]; });
  });
  numbers y{3.0};
  auto g = od::incremental(second_differences, y);
  for (int k = 0; k < 6; ++k) {
    g.append<0>(0.5 * k);
    y = with(y, 0.5 * k);
    g.commit();
    REQUIRE(g.value() == Approx(second_differences(y)).epsilon(1e-12));
  }
}

TEST_CASE("appended lists of different lengths are rejected") {
  auto f = od::incremental(clusters, indices{0, 1}, numbers{0.5, 0.75}, numbers{0.0, 1.0});
  for (int k = 0; k < 7; ++k) f.append<0>(k % 2);
  for (int k = 0; k < 6; ++k) f.append<1>(0.5);
  CHECK_THROWS_WITH(f.propose(), Catch::Contains("9") && Catch::Contains("8"));
  f.append<1>(0.5);
  f.commit();
  CHECK(
      f.value() == Approx(clusters(
                       indices{0, 1, 0, 1, 0, 1, 0, 1, 0},
                       numbers{0.5, 0.75, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, numbers{0.0, 1.0})));
}

TEST_CASE("appends to some of several arrays of one length are rejected, or recomputed in full") {
  auto f = od::incremental(clusters, indices{0, 1}, numbers{0.5, 0.75}, numbers{0.0, 1.0});
  double const before = f.value();
  f.append<0>(1);
  CHECK_THROWS_AS(f.propose(), od::size_error);
  f.rollback();
  CHECK(f.propose() == before);
  f.append<0>(2); // there is no such mean
  f.append<1>(0.5);
  CHECK_THROWS_AS(f.propose(), od::index_error);
  f.append<2>(4.0); // now there is
  f.commit();
  numbers const means{0.0, 1.0, 4.0}, x{0.5, 0.75, 0.5};
  CHECK(f.value() == Approx(clusters(indices{0, 1, 2}, x, means)));

  for (int k = 0; k < 6; ++k) f.append<0>(0), f.append<1>(1.0); // a list
  f.commit();
  CHECK(
      f.value() == Approx(clusters(
                       od::concat(indices{0, 1, 2}, od::array<i64>::copy_of(std::vector<i64>(6, 0))),
                       od::concat(x, numbers::copy_of(std::vector<double>(6, 1.0))), means)));
  f.set_at<1>(0, 0.25); // a changed and an appended element
  f.append<0>(1);
  f.append<1>(0.5);
  f.set_at<1>(9, 0.75);
  f.set_at<1>(1, 0.5);
  f.commit();
  CHECK(
      f.value() ==
      Approx(clusters(
          indices{0, 1, 2, 0, 0, 0, 0, 0, 0, 1}, numbers{0.25, 0.5, 0.5, 1, 1, 1, 1, 1, 1, 0.75}, means)));
  CHECK_THROWS_AS(f.set_at<1>(10, 0.0), od::index_error);
}

TEST_CASE("appended rows have the length of the others, and all rows may change their length") {
  // Used twice, so that the array is not fused away.
  constexpr auto ragged = od::fn<"ragged">([](auto n) {
    auto const all = od::map([](auto k) { return od::tabulate(k, [&](auto i) { return 3 * k + i; }); }, n);
    return od::sum(od::tabulate(od::size(n), [&](auto t) { return all[t][0]; })) +
           od::sum(od::tabulate(od::size(n), [&](auto t) { return all[t][1] * 2; }));
  });
  auto f = od::incremental(ragged, indices{2, 2});
  f.append<0>(3);
  CHECK_THROWS_AS(f.propose(), od::size_error);
  f.rollback();
  f.set_at<0>(0, 3);
  CHECK_THROWS_AS(f.propose(), od::size_error);
  f.set_at<0>(1, 3);
  f.commit();
  CHECK(f.value() == ragged(indices{3, 3}));
  f.append<0>(3);
  f.commit();
  CHECK(f.value() == ragged(indices{3, 3, 3}));
  // A copy's first update recomputes everything.
  auto copied = od::incremental(ragged, indices{2, 2});
  for (i64 const size : {3, 4}) {
    auto const saved_copy = copied;
    copied = saved_copy;
    copied.set_at<0>(0, size);
    copied.set_at<0>(1, size);
    (void)copied.propose();
    copied.rollback();
    CHECK(copied.value() == saved_copy.value());
    copied.set_at<0>(0, size);
    copied.set_at<0>(1, size);
    copied.commit();
    CHECK(copied.value() == ragged(indices{size, size}));
    CHECK(saved_copy.value() == ragged(indices{size - 1, size - 1}));
  }

  // All rows get longer at once.
  constexpr auto twice = od::fn<"twice">([](auto n) {
    auto const all = od::map([](auto k) { return od::tabulate(k, [&](auto i) { return 3 * k + i; }); }, n);
    auto const both = od::concat(all, all);
    return od::sum(od::map([](auto row) { return od::sum(row); }, both)) + all[0][od::size(all[0]) - 1];
  });
  auto h = od::incremental(twice, indices{2, 2});
  h.set_at<0>(0, 5);
  CHECK_THROWS_AS(h.propose(), od::size_error);
  h.set_at<0>(1, 5);
  h.commit();
  CHECK(h.value() == twice(indices{5, 5}));

  constexpr auto rows_of_next = od::fn<"rows_of_next">([](auto n) {
    return od::tabulate(
        od::size(n) - 1, [&](auto t) { return od::tabulate(n[t + 1], [](auto i) { return 2 * i; }); });
  });
  auto g = od::incremental(rows_of_next, indices{5});
  g.append<0>(3);
  g.append<0>(2);
  CHECK_THROWS_AS(g.propose(), od::size_error);
  g.rollback();
  g.append<0>(3);
  g.append<0>(3);
  g.commit();
  REQUIRE(g.value().size() == 2);
  CHECK(g.value()[1][2] == 4);
}

TEST_CASE("elements are appended to empty arrays") {
  auto f = od::incremental(clusters, indices{}, numbers{}, numbers{0.0, 1.0});
  CHECK(f.value() == 0.0);
  f.append<0>(1);
  f.append<1>(0.5);
  f.append<0>(0);
  f.append<1>(0.25);
  f.commit();
  CHECK(f.value() == Approx(clusters(indices{1, 0}, numbers{0.5, 0.25}, numbers{0.0, 1.0})));
  auto g = od::incremental(rows_of, od::array<numbers>{}, numbers{1.0});
  g.append<0>(numbers{0.5});
  g.commit();
  g.append<0>(numbers{0.25});
  g.commit();
  CHECK(g.value() == Approx(std::exp(0.5) + std::exp(0.25)));
}
