// incremental: which operations an update recomputes, and which values it saves.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/distributions.hpp>
#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
namespace dist = overdub::distributions;
using od::i64;
using numbers = od::array<double>;
using indices = od::array<i64>;

constexpr auto mixture = od::fn<"mixture">([](auto z, auto x, auto means, auto sd) {
  auto const point = [&](auto k, auto y) { return dist::log_density(dist::normal(means[k], sd), y); };
  return od::sum(od::map(point, z, x));
});
constexpr auto steps = od::fn<"steps">([](auto x) {
  return od::sum(od::tabulate(od::size(x) - 1, [&](auto t) {
    auto const d = x[t + 1] - x[t];
    return d * d;
  }));
});
constexpr auto decay = od::fn<"decay">([](auto u) {
  return od::loop(od::size(u), 0.0 * u[0], [&](auto t, auto s) { return floor(0.5 * s) + u[t]; });
});
constexpr auto scaled =
    od::fn<"scaled">([](auto a, auto x) { return od::map([&](auto e) { return a * e; }, x); });
constexpr auto roots =
    od::fn<"roots">([](auto x) { return od::sum(od::map([](auto e) { return 1.0 / e; }, x)); });
constexpr auto rows = od::fn<"rows">([](auto m, auto w) {
  return od::sum(
      od::map([&](auto row) { return w * od::sum(od::map([](auto e) { return exp(e); }, row)); }, m));
});

struct sin_is_cos : od::context {
  auto overdub(od::sin_t, auto x) { return od::cos(x); }
};
constexpr auto waves =
    od::fn<"waves">([](auto const& x) { return od::sum(od::map([](auto e) { return od::sin(e); }, x)); });
constexpr auto waves_in = od::fn<"waves_in">([](auto const& x) {
  sin_is_cos context;
  return od::run(context, waves, x);
});

} // namespace

TEST_CASE("a function that runs another one in a context is updated element by element, too") {
  auto f = od::incremental(waves_in, numbers{1, 2, 3, 4});
  f.set_at<0>(1, 0.5);
  CHECK(f.propose() == Approx(std::cos(1.0) + std::cos(0.5) + std::cos(3.0) + std::cos(4.0)));
  CHECK(
      f.explain() == "%2 = map: one iteration\n%6 = reduce: updated by the difference\n1 other operation\n");
}

TEST_CASE("a changed element runs one iteration; an element that is read by its index, the iterations with "
          "this index") {
  for (od::compile_options const& o : executors()) {
    indices z{0, 1, 1, 2, 1, 0};
    numbers x{-0.5, 0.5, 1.5, 2.5, 1.0, 0.0}, means{0.0, 1.0, 2.0};
    auto f = od::incremental(o, mixture, z, x, means, 1.0);
    CHECK(f.value() == Approx(mixture(z, x, means, 1.0)).epsilon(1e-14));

    f.set_at<0>(3, 1);
    double const proposed = f.propose();
    CHECK(
        f.explain() ==
        "%7 = map: one iteration\n%18 = reduce: updated by the difference\n7 other operations\n");
    z = od::update(z, 3, i64{1});
    CHECK(proposed == Approx(mixture(z, x, means, 1.0)).epsilon(1e-14));
    CHECK(f.difference() == Approx(proposed - f.value()).epsilon(1e-12));
    f.commit();
    CHECK(f.value() == proposed);
    CHECK(f.explain() == "nothing ran\n");

    f.set_at<2>(1, 0.75);
    f.commit();
    means = od::update(means, 1, 0.75);
    CHECK(f.value() == Approx(mixture(z, x, means, 1.0)).epsilon(1e-14));
    f.set_at<2>(1, -1.0);
    f.propose();
    CHECK(
        f.explain() ==
        "%7 = map: a list of iterations\n%18 = reduce: updated by the difference\n6 other operations\n");
    f.rollback();
    CHECK(f.value() == Approx(mixture(z, x, means, 1.0)).epsilon(1e-14));

    f.set<3>(2.0);
    f.propose();
    CHECK(
        f.explain().find("%7 = map: recomputed in full, since a value that all iterations use changed\n") ==
        0);
    f.rollback();
  }
}

TEST_CASE("setting the present value runs nothing") {
  auto f = od::incremental(mixture, indices{0, 1}, numbers{0.5, 0.25}, numbers{0.0, 1.0}, 1.0);
  f.set_at<0>(1, 1);
  f.set<3>(1.0);
  CHECK(f.propose() == f.value());
  CHECK(f.explain() == "nothing ran\n");
  CHECK(f.difference() == 0.0);
  f.commit();
}

TEST_CASE("a sum that is not finite in a branch that is not taken causes no full recomputation") {
  constexpr auto sides = od::fn<"sides">([](auto x, auto side) {
    auto const all = [&](double scale) { return od::sum(od::map([&](auto e) { return scale / e; }, x)); };
    return od::if_(
        side < 0.0, [&] { return all(1.0); }, [&] { return all(0.0) + 1.0; });
  });
  auto f = od::incremental(sides, numbers{1.0, 2.0, 4.0}, -1.0);
  f.set_at<0>(0, 0.0);
  f.commit();
  CHECK(std::isinf(f.value()));
  f.set_at<0>(0, 8.0);
  f.set<1>(1.0);
  f.commit();
  CHECK(f.value() == 1.0);
  for (int k = 1; k < 6; ++k) {
    f.set_at<0>(1, 2.0 + k);
    f.propose();
    if (k > 2) CHECK(f.explain().find("recomputed in full") == std::string::npos);
    f.commit();
    CHECK(f.value() == 1.0);
  }
}

TEST_CASE("updates of one change signature share an update program, whatever their indices, and so do "
          "computations") {
  constexpr auto own =
      od::fn<"own">([](auto z, auto x) { return od::sum(od::map([&](auto k) { return x[k] * x[k]; }, z)); });
  auto f = od::incremental(own, indices{0, 1, 1, 0}, numbers{1.0, 2.0});
  for (i64 i = 0; i < 4; ++i)
    for (i64 k = 0; k < 2; ++k) {
      f.set_at<0>(i, k);
      f.commit();
    }
  CHECK(f.program().update_programs().count() == 1);
  auto g = od::incremental(own, indices{1, 1}, numbers{3.0, 4.0});
  g.set_at<0>(0, 0);
  g.commit();
  CHECK(g.value() == 25.0);
  CHECK(g.program().update_programs().count() == 1);
  g.set_at<1>(0, 5.0);
  g.commit();
  CHECK(g.value() == 41.0);
  f.set_at<0>(0, 0); // all computations save what g needs
  f.commit();
  CHECK(f.value() == 1.0 + 4 + 4 + 4);
  CHECK(f.program().update_programs().count() == 2);
}

TEST_CASE("neighbours: the iterations before and after an element run, and none out of range") {
  for (od::compile_options const& o : executors()) {
    std::vector<double> x{1.0, 4.0, 9.0, 16.0, 25.0};
    auto f = od::incremental(o, steps, numbers::copy_of(x));
    for (std::size_t t = 0; t < x.size(); ++t) {
      f.set_at<0>(t, 2.5);
      f.commit();
      x[t] = 2.5;
      CHECK(f.value() == Approx(steps(numbers::copy_of(x))));
    }
    f.set_at<0>(1, 3.0); // two adjacent elements
    f.set_at<0>(2, 5.0);
    f.commit();
    CHECK(f.value() == Approx(0.25 + 4.0 + 6.25 + 0.0));
    CHECK(
        // in the middle, at each end, two elements, adjacent ones
        f.program().update_programs().count() == 5);
  }
}

TEST_CASE("a loop runs from the first affected iteration to the early cutoff") {
  for (od::compile_options const& o : executors()) {
    std::vector<double> u(1000, 1.0);
    auto f = od::incremental(o, decay, numbers::copy_of(u));
    for (std::size_t const t : {500u, 0u, 999u, 3u}) {
      u[t] = 40.0;
      f.set_at<0>(t, 40.0);
      f.propose();
      CHECK(f.explain().find("from the first affected iteration on") != std::string::npos);
      f.commit();
      CHECK(f.value() == decay(numbers::copy_of(u)));
    }
  }
}

TEST_CASE("results that are arrays, arrays of arrays, and more than four changed elements") {
  for (od::compile_options const& o : executors()) {
    auto f = od::incremental(o, scaled, 2.0, numbers{1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
    f.set_at<1>(2, 10.0);
    f.commit();
    CHECK(f.value() == numbers{2.0, 4.0, 20.0, 8.0, 10.0, 12.0});
    for (i64 i = 0; i < 6; ++i) f.set_at<1>(i, 0.5);
    f.commit();
    CHECK(f.value() == numbers{1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
    f.set<1>(numbers{7.0}); // of another length
    f.set_at<1>(0, 8.0);
    f.commit();
    CHECK(f.value() == numbers{16.0});
    f.set_at<1>(0, 9.0);
    f.commit();
    CHECK(f.value() == numbers{18.0});

    using matrix = od::array<numbers>;
    matrix m{numbers{0.0, 1.0}, numbers{2.0, 3.0}};
    auto g = od::incremental(o, rows, m, 2.0);
    g.set_at<0>(1, 0, -1.0);
    g.propose();
    CHECK(g.explain().find("recomputed in full") == std::string::npos);
    g.commit();
    m = matrix{numbers{0.0, 1.0}, numbers{-1.0, 3.0}};
    CHECK(g.value() == Approx(rows(m, 2.0)));
    g.set_at<0>(1, 0, 0.0); // two in one row
    g.set_at<0>(1, 1, 0.0);
    g.commit();
    CHECK(g.value() == Approx(2.0 * (1 + std::exp(1.0) + 2)));
  }
}

TEST_CASE("sums that are not finite are recomputed until they are finite") {
  auto f = od::incremental(roots, numbers{1.0, 2.0, 4.0});
  f.set_at<0>(0, 0.0);
  CHECK(f.propose() == std::numeric_limits<double>::infinity());
  f.commit();
  f.set_at<0>(1, 4.0);
  CHECK(f.propose() == std::numeric_limits<double>::infinity());
  f.commit();
  f.set_at<0>(0, 4.0);
  f.commit();
  CHECK(f.value() == 0.75);
  f.set_at<0>(0, 2.0);
  f.propose();
  CHECK(f.explain().find("one iteration") != std::string::npos);
  CHECK(f.difference() == 0.25);
}

TEST_CASE("a million differences lose less than three digits, and then everything is recomputed") {
  std::vector<double> x(100, 1.0);
  constexpr auto total =
      od::fn<"total">([](auto y) { return od::sum(od::map([](auto e) { return 0.1 * e; }, y)); });
  auto f = od::incremental(total, numbers::copy_of(x));
  for (int k = 0; k < 1'000'000; ++k) {
    double const e = 1.0 + (k % 7) * 1e6 + (k % 13) * 1e-3;
    f.set_at<0>(k % 100, e);
    f.commit();
    x[static_cast<std::size_t>(k % 100)] = e;
  }
  double const again = total(numbers::copy_of(x));
  CHECK(std::abs(f.value() - again) <= 1e-13 * again);
  // Commits are counted from the end of the first run.
  for (std::uint32_t k = 1'000'000; k < od::incremental_program::maximum_commits + 10; ++k) {
    f.set_at<0>(0, k);
    f.commit();
    x[0] = k;
  }
  double const exact = total(numbers::copy_of(x));
  CHECK(std::abs(f.value() - exact) <= 1e-15 * exact);
}

TEST_CASE("nested maps of growing length, constant results, and single precision") {
  constexpr auto triangle = od::fn<"triangle">([](auto m) {
    return od::sum(od::tabulate(od::size(m), [&](auto i) {
      auto const row = m[i];
      return od::sum(od::tabulate(i + 1, [&](auto j) { return row[j] * row[j]; }));
    }));
  });
  auto f = od::incremental(triangle, od::array<numbers>{numbers{1.0, 2.0}, numbers{3.0, 4.0}});
  CHECK(f.value() == 26.0);
  f.set_at<0>(1, 0, 5.0);
  f.set_at<0>(0, 1, 7.0); // not read
  f.commit();
  CHECK(f.value() == 42.0);

  auto g = od::incremental(od::fn<"constant">([](auto) { return 3.0; }), 1.0);
  CHECK(g.value() == 3.0);
  g.set<0>(2.0);
  g.commit();
  CHECK(g.value() == 3.0);

  auto h = od::incremental(roots, od::array<float>{1.0f, 2.0f});
  h.set_at<0>(0, 0.0f);
  h.commit();
  CHECK(std::isinf(h.value()));
  h.set_at<0>(0, 0.5f);
  h.commit();
  CHECK(h.value() == 2.5);
}

TEST_CASE("lists of iterations pass between maps of different trip counts") {
  constexpr auto halves = od::fn<"halves">([](auto z, auto means) {
    auto const a = od::map([&](auto k) { return means[k] * means[k]; }, z);
    return od::sum(od::tabulate(od::size(a) - 1, [&](auto t) { return 2.0 * a[t]; }));
  });
  for (od::compile_options const& o : executors()) {
    auto f = od::incremental(o, halves, indices{0, 1, 1}, numbers{1.0, 2.0});
    CHECK(f.value() == 10.0);
    f.set_at<1>(1, 5.0);
    f.commit();
    CHECK(f.value() == 52.0);
    f.set_at<0>(2, 0); // an iteration that is not read
    f.commit();
    CHECK(f.value() == 52.0);
    f.set_at<0>(0, 1);
    f.commit();
    CHECK(f.value() == 100.0);
  }
}

TEST_CASE("loops with branches and with reads at computed indices") {
  constexpr auto branches = od::fn<"branches">([](auto u, auto z, auto means, auto start) {
    return od::loop(od::size(u), start, [&](auto t, auto s) {
      auto const w = od::if_(
          u[t] > 0.0, [&] { return exp(u[t]); }, [&] { return sin(u[t]); });
      return 0.5 * s + w + means[(z[t] + 1) % 2];
    });
  });
  for (od::compile_options const& o : executors()) {
    numbers u{0.5, -0.5, 0.25, 1.0}, means{1.0, 2.0};
    indices z{0, 1, 1, 0};
    double start = 1.0;
    auto f = od::incremental(o, branches, u, z, means, start);
    auto const agrees = [&] { return f.value() == Approx(branches(u, z, means, start)).epsilon(1e-14); };
    start = 2.0;
    f.set<3>(start);
    f.commit();
    CHECK(agrees());
    for (i64 t = 0; t < 4; ++t) {
      u = od::update(u, t, -2.0);
      f.set_at<0>(t, -2.0);
      f.commit();
      CHECK(agrees());
      z = od::update(z, t, i64{1} - z[t]);
      f.set_at<1>(t, z[t]);
      f.commit();
      CHECK(agrees());
      means = od::update(means, t % 2, 0.5 + static_cast<double>(t));
      f.set_at<2>(t % 2, means[t % 2]);
      f.commit();
      CHECK(agrees());
    }
  }
}

TEST_CASE(
    "a branch whose condition is unchanged runs its affected operations, and one that flips runs in full") {
  // The level selects one of two sums, the second of which has a nested branch.
  constexpr auto switched = od::fn<"switched">([](auto level, auto x, auto y) {
    return od::if_(
        level > 0, [&] { return od::sum(od::map([](auto e) { return exp(e); }, x)); },
        [&] {
          return od::if_(
              level < -1, [&] { return od::sum(od::map([](auto e) { return e * e; }, y)); },
              [&] { return od::sum(od::map([&](auto e) { return e * level; }, y)); });
        });
  });
  for (od::compile_options const& o : executors()) {
    numbers x{0.5, -1, 2, 0.25}, y{1, 2, 3, 4};
    double level = 1;
    auto f = od::incremental(o, switched, level, x, y);
    auto const agrees = [&] { return f.value() == Approx(switched(level, x, y)).epsilon(1e-13); };
    CHECK(agrees());
    f.set_at<1>(2, 0.75);
    f.propose();
    CHECK_THAT(
        f.explain(), Catch::Contains("= map: one iteration") &&
                         Catch::Contains("= if: the affected operations of its branch") &&
                         !Catch::Contains("recomputed in full"));
    f.commit();
    x = numbers{0.5, -1, 0.75, 0.25};
    CHECK(agrees());
    f.set_at<2>(1, 9.0); // not read
    f.commit();
    y = numbers{1, 9, 3, 4};
    CHECK(agrees());
    for (double const next : {2.0, -2.0, -3.0, -0.5, -0.25, -5.0, 4.0, -1.5}) {
      f.set<0>(next);
      f.propose();
      f.rollback();
      CHECK(agrees());
      f.set<0>(level = next);
      f.commit();
      CHECK(agrees());
      f.set_at<2>(0, next);
      f.set_at<1>(3, next);
      f.commit();
      y = numbers{next, 9, 3, 4};
      x = numbers{0.5, -1, 0.75, next};
      CHECK(agrees());
    }
  }
}

TEST_CASE("the work of an update in a branch does not depend on the length of its maps") {
  constexpr auto chosen = od::fn<"chosen">([](auto which, auto x) {
    return od::if_(
        which, [&] { return od::sum(od::map([](auto e) { return sin(e); }, x)); },
        [&] { return od::sum(od::map([](auto e) { return cos(e); }, x)); });
  });
  auto f = od::incremental(chosen, true, numbers::copy_of(std::vector<double>(100'000, 0.5)));
  double const before = f.value();
  f.set_at<1>(77'777, 1.0);
  f.commit();
  CHECK(f.value() - before == Approx(std::sin(1.0) - std::sin(0.5)).epsilon(1e-9));
  CHECK_THAT(f.explain(), !Catch::Contains("recomputed in full"));
  f.set<0>(false);
  f.commit();
  CHECK(f.value() == Approx(99'999 * std::cos(0.5) + std::cos(1.0)).epsilon(1e-9));
}

TEST_CASE("a sum that is not finite at the start is recomputed, too") {
  constexpr auto inverses =
      od::fn<"inverses">([](auto x) { return od::sum(od::map([](auto e) { return 1.0 / e; }, x)); });
  auto f = od::incremental(inverses, numbers{0.0, 2.0, 4.0});
  f.set_at<0>(0, 4.0);
  CHECK(f.propose() == 1.0);
  f.commit();
  CHECK(f.value() == 1.0);
}

TEST_CASE("rows of other lengths are rejected, and the changes stay pending") {
  constexpr auto ramps = od::fn<"ramps">([](auto lengths) {
    return od::tabulate(od::size(lengths), [&](auto i) {
      return od::tabulate(lengths[i], [](auto j) { return 1.0 * od::convert<double>(j); });
    });
  });
  auto f = od::incremental(ramps, indices{3, 3});
  f.set_at<0>(1, 1);
  CHECK_THROWS_AS(f.propose(), od::size_error);
  CHECK_THROWS_AS(f.commit(), od::size_error);
  f.set_at<0>(0, 1);
  f.rollback();
  f.set<0>(indices{1, 1});
  f.commit();
  CHECK(f.value().size() == 2);
  CHECK(f.value()[1].size() == 1);
}

TEST_CASE("arrays whose length differs between iterations are recomputed, and not saved") {
  constexpr auto staircase = od::fn<"staircase">([](auto x, auto y) {
    return od::sum(od::tabulate(od::size(y), [&](auto i) {
      auto const row = od::tabulate(i + 1, [&](auto j) { return x[j] * x[j]; });
      return od::sum(row) + od::sum(od::map([&](auto e) { return exp(e * y[i]); }, row));
    }));
  });
  numbers const x{0.5, 0.25, 1.0};
  auto f = od::incremental(staircase, x, numbers{0.1, 0.2, 0.3});
  f.set_at<1>(1, 0.5);
  f.commit();
  CHECK(f.value() == Approx(staircase(x, numbers{0.1, 0.5, 0.3})));
  f.set_at<0>(0, 2.0);
  f.commit();
  CHECK(f.value() == Approx(staircase(numbers{2.0, 0.25, 1.0}, numbers{0.1, 0.5, 0.3})));
}

TEST_CASE("an iteration may be affected by two arrays, one of them under a condition") {
  constexpr auto twice = od::fn<"twice">([](auto x) {
    auto const m = od::size(x) - 1;
    auto const a = od::tabulate(m, [&](auto t) { return x[t + 1] * x[t + 1]; });
    return od::sum(a) + od::sum(od::tabulate(m, [&](auto t) { return a[t] * x[t + 1]; })) +
           od::loop(m, 0.5, [&](auto t, auto s) { return s * a[t] + x[t + 1]; });
  });
  for (od::compile_options const& o : executors()) {
    std::vector<double> x{1.0, 2.0, 3.0};
    auto f = od::incremental(o, twice, numbers::copy_of(x));
    for (std::size_t t : {0u, 1u, 2u, 0u}) {
      x[t] += 0.5;
      f.set_at<0>(t, x[t]);
      f.commit();
      CHECK(f.value() == Approx(twice(numbers::copy_of(x))));
    }
  }
}
