// incremental: lists of changed elements. One update program serves lists of all lengths.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;
using integers = od::array<i64>;
using rows = od::array<numbers>;

bool has(std::string const& text, char const* what) { return text.find(what) != text.npos; }

// Pseudo-random numbers.
class noise {
public:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  double number() { return static_cast<double>(next() % 4096) / 512 - 4; }

private:
  std::uint64_t next() { return (state_ = state_ * 6364136223846793005u + 1442695040888963407u) >> 33; }
  std::uint64_t state_ = 7;
};
std::vector<double> some(noise& of, std::size_t n) {
  std::vector<double> all(n);
  for (double& x : all) x = of.number();
  return all;
}

constexpr auto mixture = od::fn<"mixture">([](auto const& z, auto const& means, auto const& x) {
  return od::sum(od::map(
      [&](auto k, auto e) {
        auto const d = e - means[k];
        return -0.5 * d * d;
      },
      z, x));
});

// Sets `count` elements of an argument, and of a copy of it.
template <std::size_t I, class F, class T, class Next>
void set_some(F& f, std::vector<T>& copy, std::size_t count, noise& random, Next const& next) {
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t const i = random.below(copy.size());
    copy[i] = next();
    f.template set_at<I>(static_cast<i64>(i), copy[i]);
  }
}

} // namespace

TEST_CASE("many assignments change in one update, and so do many means") {
  for (od::compile_options const& o : executors()) {
    noise random;
    std::size_t const n = 400, groups = 80;
    std::vector<double> x = some(random, n), means = some(random, groups);
    std::vector<i64> z(n);
    for (i64& k : z) k = static_cast<i64>(random.below(groups));
    auto f = od::incremental(o, mixture, integers::copy_of(z), numbers::copy_of(means), numbers::copy_of(x));
    std::size_t const before = f.program().update_programs().count();
    for (std::size_t update = 0; update < 40; ++update) {
      auto const z_then = z;
      auto const means_then = means;
      auto const group = [&] { return static_cast<i64>(random.below(groups)); };
      if (update % 4 == 3)
        set_some<1>(f, means, 8, random, [&] { return random.number(); });
      else
        set_some<0>(f, z, 5 + random.below(40), random, group);
      double const was = f.value(), proposed = f.propose();
      CHECK(has(f.explain(), "map: a list of iterations"));
      CHECK_FALSE(has(f.explain(), "recomputed in full"));
      CHECK(
          proposed ==
          Approx(mixture(integers::copy_of(z), numbers::copy_of(means), numbers::copy_of(x))).epsilon(1e-13));
      CHECK(f.difference() == Approx(proposed - was).margin(1e-9));
      if (update % 3 == 0) {
        f.rollback();
        z = z_then;
        means = means_then;
        CHECK(f.value() == was);
      } else {
        f.commit();
        CHECK(f.value() == proposed);
        for (std::size_t i = 0; i < n; ++i) CHECK(f.get_at<0>(i) == z[i]);
      }
    }
    CHECK(f.program().update_programs().count() == before + 2);
    // Both at once: an iteration is affected by either, or by both.
    set_some<0>(f, z, 30, random, [&] { return static_cast<i64>(random.below(groups)); });
    set_some<1>(f, means, 8, random, [&] { return random.number(); });
    set_some<2>(f, x, 3, random, [&] { return random.number(); });
    f.commit();
    CHECK(
        f.value() ==
        Approx(mixture(integers::copy_of(z), numbers::copy_of(means), numbers::copy_of(x))).epsilon(1e-13));
  }
}

namespace {
// Differences of neighbours, and a loop.
constexpr auto walk = od::fn<"walk">([](auto const& x) {
  auto const steps =
      od::tabulate(od::size(x) - 2, [&](auto t) { return od::sin(x[t + 1] - x[t]) + x[t + 2]; });
  auto const [last, carried] = od::scan(
      [](auto s, auto e) {
        auto const next = od::floor(0.25 * s + e);
        return std::pair(next, next);
      },
      0.0, steps);
  return last + od::sum(steps) + 0.5 * od::sum(carried) + x[0];
});
} // namespace

TEST_CASE("an update of a list runs the neighbours of its elements, and loops from the first to the last") {
  for (od::compile_options const& o : executors()) {
    noise random;
    std::vector<double> x = some(random, 300);
    auto f = od::incremental(o, walk, numbers::copy_of(x));
    for (std::size_t update = 0; update < 40; ++update) {
      // From the seventeenth on they would be plain runs: less work than such a loop from end to end.
      if (update % 16 == 0) f = od::incremental(o, walk, numbers::copy_of(x));
      if (update % 2 == 0) {
        set_some<0>(f, x, 3 + random.below(30), random, [&] { return random.number(); });
      } else { // adjacent elements, with both ends
        std::size_t const first = update % 3 == 0 ? 0 : update % 5 == 0 ? 290 : 140;
        for (std::size_t i = first; i < first + 10; ++i) f.set_at<0>(i, x[i] = random.number());
      }
      f.propose();
      CHECK_FALSE(has(f.explain(), "recomputed in full"));
      CHECK(has(f.explain(), "loop: from the first affected iteration"));
      f.commit();
      INFO("update " << update);
      REQUIRE(f.value() == Approx(walk(numbers::copy_of(x))).epsilon(1e-13));
    }
  }
}

namespace {
constexpr auto table = od::fn<"table">([](auto const& x, auto const& by) {
  return od::sum(od::map(
      [](auto const& row, auto b) {
        return b * od::sum(od::map([](auto e) { return od::exp(0.1 * e); }, row)) + row[1];
      },
      x, by));
});
} // namespace

TEST_CASE("a list of elements of one row, or of many, is a list of rows") {
  for (od::compile_options const& o : executors()) {
    noise random;
    std::vector<std::vector<double>> x(90);
    for (auto& row : x) row = some(random, 5);
    std::vector<double> by = some(random, 90);
    auto const all = [&] {
      std::vector<numbers> of;
      for (auto const& row : x) of.push_back(numbers::copy_of(row));
      return rows::copy_of(of);
    };
    auto f = od::incremental(o, table, all(), numbers::copy_of(by));
    auto const set = [&](std::size_t i, std::size_t j) { f.set_at<0>(i, j, x[i][j] = random.number()); };
    for (std::size_t update = 0; update < 30; ++update) {
      std::size_t const i = random.below(90);
      if (update % 3 == 0)
        set(i, 1), set(i, 3);
      else
        for (std::size_t k = 0; k < 8; ++k) set(random.below(90), random.below(5));
      f.propose();
      CHECK(has(f.explain(), "map: a list of iterations"));
      CHECK_FALSE(has(f.explain(), "iterations use changed"));
      f.commit();
      REQUIRE(f.value() == Approx(table(all(), numbers::copy_of(by))).epsilon(1e-13));
      CHECK(f.get_at<0>(i, 3) == x[i][3]);
    }
  }
}

TEST_CASE(
    "a list has the value that was set last, and a list that is too long changes the array as a whole") {
  auto const total = od::fn<"total">([](auto const& x) { return std::pair(od::sum(x), x); });
  noise random;
  std::vector<double> x = some(random, 100);
  auto f = od::incremental(total, numbers::copy_of(x));
  auto const check = [&] {
    f.commit();
    auto const [sum, same] = f.value();
    REQUIRE(std::equal(same.begin(), same.end(), x.begin(), x.end()));
    double wanted = 0;
    for (double const e : x) wanted += e;
    CHECK(sum == Approx(wanted).epsilon(1e-13));
  };
  for (std::size_t i = 90; i > 70; i -= 2) f.set_at<0>(i, 1.0);
  for (std::size_t i = 90; i > 70; i -= 2) f.set_at<0>(i, x[i]); // no change
  f.set_at<0>(80, x[80] = 2.5);
  f.propose();
  CHECK(has(f.explain(), "reduce: updated by the difference"));
  check();

  for (std::size_t i = 0; i < 26; ++i) f.set_at<0>(3 * i, x[3 * i] = random.number());
  f.propose();
  CHECK(has(f.explain(), "recomputed in full"));
  check();

  for (std::size_t i = 0; i < 8; ++i) f.set_at<0>(i, x[i] = random.number());
  f.append<0>(4.0);
  x.push_back(4.0);
  f.set_at<0>(99, x[99] = -1.0);
  check();

  for (std::size_t i = 0; i < 8; ++i) f.set_at<0>(i, 9.0);
  CHECK_THROWS_AS(f.set_at<0>(101, 1.0), od::index_error);
  CHECK_THROWS_AS(f.set_at<0>(-1, 1.0), od::index_error);
  f.rollback();
  check();
  for (std::size_t i = 0; i < 8; ++i) f.set_at<0>(i, 9.0);
  f.set<0>(numbers::copy_of(x = some(random, 50))); // instead
  check();
}

TEST_CASE("for_each_change visits the proposed elements of a list") {
  auto const squares =
      od::fn<"squares">([](auto const& x) { return std::pair(od::map([](auto e) { return e * e; }, x), x); });
  noise random;
  std::vector<double> x = some(random, 64);
  auto f = od::incremental(squares, numbers::copy_of(x));
  std::vector<std::pair<i64, double>> wanted, seen, given;
  for (i64 const i : {40, 3, 17, 9, 60, 22}) {
    f.set_at<0>(i, static_cast<double>(i));
    wanted.emplace_back(i, static_cast<double>(i));
  }
  f.propose();
  auto const note = [](auto& to) {
    return [&to](std::span<i64 const> path, std::uint64_t bits) {
      REQUIRE(path.size() == 1);
      to.emplace_back(path[0], std::bit_cast<double>(bits));
    };
  };
  f.program().for_each_change(0, note(seen));
  f.program().for_each_change(1, note(given));
  std::sort(wanted.begin(), wanted.end());
  std::sort(given.begin(), given.end());
  CHECK(given == wanted);
  for (auto& [i, e] : wanted) e *= e;
  std::sort(seen.begin(), seen.end());
  CHECK(seen == wanted);
}

namespace {
// Each element combined with the next one and then with the one before, if they exist.
constexpr auto back_and_forth = od::fn<"back_and_forth">([](auto const& x, auto const& y) {
  auto const n = od::size(x);
  auto const a = od::tabulate(n, [&](auto t) {
    return od::if_(
        t > 0, [&] { return x[t - 1]; }, [&] { return 0.0; });
  });
  auto const b = od::tabulate(n, [&](auto t) {
    return od::if_(
        t < n - 1, [&] { return a[t + 1]; }, [&] { return x[t] + y[t]; });
  });
  auto const c = od::tabulate(n, [&](auto t) {
    return od::if_(
        t > 0, [&] { return b[t - 1] * y[t]; }, [&] { return b[t]; });
  });
  return od::sum(b) + od::sum(c);
});
} // namespace

TEST_CASE("elements at the ends are not lost if a list is shifted back and forth") {
  for (od::compile_options const& o : executors()) {
    noise random;
    std::vector<double> x(64, 1.0), y(64, 1.0);
    auto f = od::incremental(o, back_and_forth, numbers::copy_of(x), numbers::copy_of(y));
    for (std::size_t update = 0; update < 20; ++update) {
      for (std::size_t const i : {1u, 2u, 3u, 62u, 63u, 0u, 40u})
        if (random.below(4) != 0) f.set_at<0>(i, x[i] = random.number());
      if (update % 2 == 1)
        for (std::size_t const i : {63u, 0u, 5u, 61u, 7u})
          if (random.below(4) != 0) f.set_at<1>(i, y[i] = random.number());
      f.commit();
      INFO("update " << update);
      REQUIRE(f.value() == Approx(back_and_forth(numbers::copy_of(x), numbers::copy_of(y))).epsilon(1e-12));
    }
  }
}

TEST_CASE("elements that are set to their present values are not listed") {
  auto const squares =
      od::fn<"squares">([](auto const& x) { return od::sum(od::map([](auto e) { return e * e; }, x)); });
  noise random;
  std::vector<double> x = some(random, 64);
  auto f = od::incremental(squares, numbers::copy_of(x));
  for (std::size_t i = 0; i < 5; ++i) f.set_at<0>(i, 2.0);
  for (std::size_t i = 5; i < 45; ++i) f.set_at<0>(i, x[i]);
  f.propose();
  CHECK(has(f.explain(), "map: a list of iterations"));
}

TEST_CASE("the difference of integers is an exact integer") {
  auto const total = od::fn<"total">([](auto const& x) { return od::sum(x); });
  auto f = od::incremental(total, integers{i64{1} << 53, 2, 3});
  f.set_at<0>(0, (i64{1} << 53) + 1);
  f.propose();
  CHECK(f.difference() == 1);
}
