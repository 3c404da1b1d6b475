// incremental: loops with loop-carried arrays, as in filters of hidden Markov models, run from the first affected iteration on.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/incremental.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;
using integers = od::array<i64>;
using rows = od::array<numbers>;

// The log likelihood of the observations of a hidden Markov model (-1: missing), and the filtered state probabilities of each iteration.
// Rabiner, A tutorial on hidden Markov models, 1989, III A and V A.
constexpr auto forward =
    od::fn<"forward">([](auto seen, auto start, auto transitions, auto emissions, auto weights) {
      auto const [last, states] = od::scan(
          [&](auto s, auto o) {
            auto const [before, evidence] = s;
            auto const predicted = od::tabulate(od::size(before), [&](auto j) {
              return od::sum(
                  od::tabulate(od::size(before), [&](auto k) { return before[k] * transitions[k][j]; }));
            });
            auto const joint = od::if_(
                o < 0, [&] { return predicted; },
                [&] { return od::map([&](auto p, auto row) { return p * row[o]; }, predicted, emissions); });
            auto const total = od::sum(joint);
            auto const after = od::map([&](auto p) { return p / total; }, joint);
            return std::pair(std::tuple(after, evidence + od::log(total)), after);
          },
          std::tuple(start, 0.0), seen);
      return std::get<1>(last) + od::sum(od::map([](auto p, auto w) { return p[0] * w; }, states, weights));
    });

struct chain {
  std::vector<i64> seen;
  std::vector<double> weights;
  numbers start{0.5, 0.25, 0.25};
  rows transitions = rows::copy_of(std::vector<numbers>{{0.7, 0.2, 0.1}, {0.1, 0.8, 0.1}, {0.3, 0.3, 0.4}});
  rows emissions = rows::copy_of(std::vector<numbers>{{0.9, 0.1}, {0.4, 0.6}, {0.2, 0.8}});

  explicit chain(i64 length) {
    for (i64 t = 0; t < length; ++t)
      seen.push_back(t * 7 % 5 % 3 - 1), weights.push_back(t % 4 == 0 ? 0.5 : 0.125);
  }
  auto incremental_filter(od::compile_options const& o) const {
    return od::incremental(
        o, forward, integers::copy_of(seen), start, transitions, emissions, numbers::copy_of(weights));
  }
  double value() const {
    return forward(integers::copy_of(seen), start, transitions, emissions, numbers::copy_of(weights));
  }
};

bool has(std::string const& text, char const* what) { return text.find(what) != text.npos; }
bool is_updated(std::string const& ran) {
  return has(ran, "loop: from the first affected iteration on") && !has(ran, "loop: recomputed in full");
}
rows of(std::vector<std::vector<double>> const& x) {
  std::vector<numbers> all;
  for (auto const& row : x) all.push_back(numbers::copy_of(row));
  return rows::copy_of(all);
}

} // namespace

TEST_CASE("a filter of a hidden Markov model runs from the first affected iteration on") {
  for (od::compile_options const& o : executors()) {
    chain c(60);
    auto f = c.incremental_filter(o);
    CHECK(f.value() == Approx(c.value()).epsilon(1e-13));
    for (i64 k = 0; k < 80; ++k) {
      auto const t = static_cast<std::size_t>(k * 17) % c.seen.size();
      i64 const now = (c.seen[t] + 2) % 3 - 1;
      f.set_at<0>(static_cast<i64>(t), now);
      f.propose();
      if (now != c.seen[t]) CHECK(is_updated(f.explain()));
      if (k % 3 == 0) {
        f.rollback();
      } else {
        f.commit();
        c.seen[t] = now;
      }
      INFO("update " << k);
      REQUIRE(f.value() == Approx(c.value()).epsilon(1e-13));
    }
    // One appended iteration, or several.
    for (int k = 0; k < 6; ++k) {
      for (int n = 0; n <= k % 3 * 4; ++n) {
        c.seen.push_back((k + n) % 3 - 1);
        c.weights.push_back(0.5);
        f.append<0>(c.seen.back());
        f.append<4>(0.5);
      }
      f.propose();
      CHECK(has(f.explain(), k % 3 == 0 ? "loop: one appended iteration" : "loop: the appended iterations"));
      f.commit();
      REQUIRE(f.value() == Approx(c.value()).epsilon(1e-13));
    }
    // The initial value, and an array that all iterations use.
    c.start = {0.25, 0.25, 0.5};
    f.set<1>(c.start);
    f.propose();
    CHECK(is_updated(f.explain()));
    f.commit();
    CHECK(f.value() == Approx(c.value()).epsilon(1e-13));
    f.set_at<2>(1, 1, 0.75);
    f.propose();
    CHECK(has(f.explain(), "loop: recomputed in full, since elements are read at a computed index"));
    f.rollback();
    CHECK(f.value() == Approx(c.value()).epsilon(1e-13));
  }
}

TEST_CASE("such a loop reads arrays in place") {
  chain const c(60);
  auto const f = c.incremental_filter({});
  auto const& programs = f.program().update_programs();
  auto saved = programs.variables();
  std::string const text = od::ir::print(od::increments::make_update_program(
                                             programs.program(), programs.program().entry, saved,
                                             {{.elements = 1, .indices = 1}, {}, {}, {}, {}}, {})
                                             .program);
  CHECK(has(text, " while "));
  CHECK_FALSE(has(text, " loop "));
  CHECK_FALSE(has(text, " update ")); // it would copy the whole array
}

// Rows of observations and a loop-carried vector, which returns to its old value.
constexpr auto relaxed = od::fn<"relaxed">([](auto x, auto start, auto by) {
  auto const last = od::loop(od::size(x), start, [&](auto t, auto s) {
    return od::tabulate(od::size(s), [&](auto j) { return od::floor(4.0 * (by * s[j] + x[t][j])) / 4.0; });
  });
  return od::sum(last) + last[0];
});

TEST_CASE("a loop with a loop-carried vector reads rows") {
  for (od::compile_options const& o : executors()) {
    std::vector<std::vector<double>> x(40, std::vector<double>(3));
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t j = 0; j < 3; ++j) x[t][j] = static_cast<double>((t * 7 + j * 5) % 11) / 8;
    numbers start{1, 2, 3};
    auto f = od::incremental(o, relaxed, of(x), start, 0.25);
    auto const check = [&] { REQUIRE(f.value() == relaxed(of(x), start, 0.25)); };
    check();
    for (std::size_t k = 0; k < 50; ++k) {
      std::size_t const t = k * 13 % x.size(), u = (t + 2) % x.size();
      f.set_at<0>(t, k % 3, 0.375 * static_cast<double>(k % 7));
      if (k % 2 == 0) f.set_at<0>(u, 1, -1.0);
      f.propose();
      CHECK_FALSE(has(f.explain(), "loop: recomputed in full"));
      if (k % 5 == 0) {
        f.rollback();
        continue;
      }
      f.commit();
      x[t][k % 3] = 0.375 * static_cast<double>(k % 7);
      if (k % 2 == 0) x[u][1] = -1;
      check();
    }
    x.push_back({1, 0, -2});
    f.append<0>(numbers::copy_of(x.back()));
    f.commit();
    check();
    f.set_at<1>(2, -8.0);
    f.propose();
    CHECK(is_updated(f.explain()));
    f.commit();
    start = {1, 2, -8};
    check();
    start = {4, 5}; // a shorter vector: all saved values get shorter
    f.set<1>(start);
    f.commit();
    check();
    start = {4, 5, 6, 7};
    f.set<1>(start);
    CHECK_THROWS_AS(f.commit(), od::index_error); // rows have three numbers
    f.rollback();
    start = {4, 5};
    check();
    // A NaN lasts to the end; -0 differs from 0.
    x[3][1] = std::numeric_limits<double>::quiet_NaN();
    f.set_at<0>(3, 1, x[3][1]);
    f.commit();
    CHECK(std::isnan(f.value()));
    x[3][1] = 0.25;
    f.set_at<0>(3, 1, 0.25);
    f.commit();
    check();
  }
}

// A loop-carried vector for each of several series.
constexpr auto panel = od::fn<"panel">([](auto x, auto starts) {
  return od::sum(od::map(
      [](auto series, auto start) {
        auto const last = od::loop(od::size(series), start, [&](auto t, auto s) {
          return od::tabulate(
              od::size(s), [&](auto j) { return od::floor(4.0 * (0.25 * s[j] + series[t])) / 4.0; });
        });
        return od::sum(last) + 0.5 * last[1];
      },
      x, starts));
});

TEST_CASE("a loop in a map has a loop-carried array") {
  for (od::compile_options const& o : executors()) {
    std::vector<std::vector<double>> x(6, std::vector<double>(30)), starts(6, std::vector<double>(2));
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t t = 0; t < x[i].size(); ++t) x[i][t] = static_cast<double>((i * 13 + t * 7) % 11) / 4;
    auto f = od::incremental(o, panel, of(x), of(starts));
    for (std::size_t k = 0; k < 40; ++k) {
      std::size_t const i = k * 5 % x.size(), t = k * 7 % x[i].size();
      double const e = static_cast<double>(k * 5 % 23) / 4;
      f.set_at<0>(i, t, e);
      f.propose();
      CHECK_FALSE(has(f.explain(), "loop: recomputed in full"));
      f.commit();
      x[i][t] = e;
      if (k % 4 == 0) {
        starts[i][k % 2] = e - 1;
        f.set_at<1>(i, k % 2, e - 1);
        f.commit();
      }
      REQUIRE(f.value() == panel(of(x), of(starts)));
    }
    x.push_back(x[0]);
    starts.push_back({7, 8});
    f.append<0>(numbers::copy_of(x.back()));
    f.append<1>(numbers::copy_of(starts.back()));
    f.commit();
    CHECK(f.value() == panel(of(x), of(starts)));
  }
}

// A loop-carried matrix.
constexpr auto squared = od::fn<"squared">([](auto x, auto first) {
  auto const last = od::loop(od::size(x), first, [&](auto t, auto p) {
    return od::tabulate(od::size(p), [&](auto i) {
      return od::tabulate(
          od::size(p[i]), [&](auto j) { return od::floor(8.0 * (0.5 * p[j][i] + x[t] * p[i][j])) / 8.0; });
    });
  });
  return od::sum(od::map([](auto row) { return od::sum(row); }, last));
});

TEST_CASE("a loop has a loop-carried matrix") {
  for (od::compile_options const& o : executors()) {
    std::vector<double> x(30, 0.25);
    rows const first = of({{1, 2}, {3, 4}});
    auto f = od::incremental(o, squared, numbers::copy_of(x), first);
    for (std::size_t k = 0; k < 30; ++k) {
      std::size_t const t = k * 11 % x.size();
      x[t] = 0.125 * static_cast<double>(k % 5);
      f.set_at<0>(t, x[t]);
      f.propose();
      CHECK_FALSE(has(f.explain(), "loop: recomputed in full"));
      f.commit();
      REQUIRE(f.value() == squared(numbers::copy_of(x), first));
    }
    f.set<1>(of({{1, 0}, {0, 1}}));
    f.commit();
    CHECK(f.value() == squared(numbers::copy_of(x), of({{1, 0}, {0, 1}})));
  }
}

// A loop-carried array that gets longer; and one whose length differs between the iterations of a map.
constexpr auto longer = od::fn<"longer">([](auto x, auto first) {
  auto const last = od::loop(od::size(x), first, [&](auto t, auto s) {
    return od::tabulate(od::size(s) + 1, [&](auto) { return x[t]; });
  });
  return od::sum(last);
});
constexpr auto triangle = od::fn<"triangle">([](auto x) {
  return od::sum(od::tabulate(od::size(x), [&](auto i) {
    auto const first = od::tabulate(i + 1, [&](auto) { return 1.0; });
    auto const last =
        od::loop(3, first, [&](auto, auto s) { return od::map([](auto e) { return 2.0 * e; }, s); });
    return x[i] * last[0] + last[i];
  }));
});

TEST_CASE("loops whose loop-carried arrays get longer are recomputed in full") {
  std::vector<double> x{1, 2, 3, 4};
  auto f = od::incremental(longer, numbers::copy_of(x), numbers{1.0});
  f.set_at<0>(2, 8.0);
  f.propose();
  CHECK(has(
      f.explain(),
      "loop: recomputed in full, since the length of a loop-carried array may differ between iterations"));
  f.commit();
  x[2] = 8;
  CHECK(f.value() == longer(numbers::copy_of(x), numbers{1.0}));

  auto g = od::incremental(triangle, numbers::copy_of(x));
  g.set_at<0>(1, -3.0);
  g.commit();
  x[1] = -3;
  CHECK(g.value() == triangle(numbers::copy_of(x)));
}

// An array that is updated in place, and one that a branch replaces.
constexpr auto swept = od::fn<"swept">([](auto x, auto first) {
  auto const last = od::loop(od::size(x), first, [&](auto t, auto s) {
    auto const next = od::loop(od::size(s), s, [&](auto j, auto r) {
      return od::update(r, j, od::floor(4.0 * (0.25 * r[j] + x[t])) / 4.0);
    });
    return od::if_(
        x[t] < 0.0, [&] { return od::tabulate(od::size(first), [&](auto) { return x[t]; }); },
        [&] { return next; });
  });
  return od::sum(last);
});

TEST_CASE("a loop-carried array keeps its shape in nested loops, in branches, and where it is replaced") {
  for (od::compile_options const& o : executors()) {
    std::vector<double> x{1, 2, -0.5, 4, 0.25, 0, 3, 1};
    auto f = od::incremental(o, swept, numbers::copy_of(x), numbers{1, 2, 3});
    for (std::size_t k = 0; k < 24; ++k) {
      std::size_t const t = k * 5 % x.size();
      x[t] = 0.375 * static_cast<double>(k % 7) - 0.75;
      f.set_at<0>(t, x[t]);
      f.propose();
      CHECK_FALSE(has(f.explain(), "loop: recomputed in full, since it carries"));
      f.commit();
      REQUIRE(f.value() == swept(numbers::copy_of(x), numbers{1, 2, 3}));
    }
  }
}

TEST_CASE("stacked rows differ in length between the iterations of an enclosing map") {
  od::ir::program const p = od::ir::parse(R"(entry @main
func @main(%x: f64[][]) -> f64 {
  %n = length %x : i64
  %all = map %n (%i: i64) -> f64 {
    %row = at %x, %i : f64[]
    %m = length %row : i64
    %c = add %i, 1 : i64
    %last, %rows = loop %m (%t: i64, %s: f64 = 0.25) -> f64 stack f64[] {
      %e = at %row, %t : f64
      %new = fill %c, %e : f64[]
      %next = mul %s, %e : f64
      yield %next, %new
    }
    %r = at %rows, 1 : f64[]
    %q = reduce add %r from 0.0 : f64
    %w = add %q, %last : f64
    yield %w
  }
  %total = reduce add %all from 0.0 : f64
  return %total
})");
  auto const all = [](std::vector<double> const& x) { return od::datum::of({2, 2}, numbers::copy_of(x)); };
  od::incremental_program f(
      std::make_shared<od::update_program_cache>(p, od::compile_options()), {all({1, 2, 3, 4})});
  i64 const path[] = {1, 1};
  f.set_at(0, path, od::datum(5.0).bits());
  f.commit();
  CHECK(f.result(0).as<double>() == 16.25); // 2 + 0.5, and 10 + 3.75
}

TEST_CASE("an appended iteration returns a row as long as the others") {
  od::ir::program const p = od::ir::parse(R"(entry @main
func @main(%x: f64[], %l: i64[]) -> f64 {
  %n = length %x, %l : i64
  %last, %rows = loop %n (%t: i64, %s: f64 = 0.25) -> f64 stack f64[] {
    %e = at %x, %t : f64
    %c = at %l, %t : i64
    %new = fill %c, %e : f64[]
    %next = mul %s, %e : f64
    yield %next, %new
  }
  %m = map %n (%i: i64) -> f64 {
    %r = at %rows, %i : f64[]
    %q = reduce add %r from 0.0 : f64
    yield %q
  }
  %sum = reduce add %m from 0.0 : f64
  %total = add %sum, %last : f64
  return %total
})");
  auto const x = od::datum::of({3}, numbers{1, 2, 3});
  auto const l = od::datum::of({3}, integers{2, 2, 2});
  od::incremental_program f(std::make_shared<od::update_program_cache>(p, od::compile_options()), {x, l});
  auto const append = [&](i64 length) {
    f.append(0, od::datum(4.0).bits());
    f.append(1, static_cast<std::uint64_t>(length));
  };
  append(3);
  CHECK_THROWS_AS(f.propose(), od::size_error);
  f.rollback();
  append(2);
  f.commit();
  CHECK(f.result(0).as<double>() == 26); // 20, and 6
}
