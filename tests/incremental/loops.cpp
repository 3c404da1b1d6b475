// incremental: loops in maps run from the first affected iteration on, in the affected iteration of the map.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/incremental.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;
using rows = od::array<numbers>;

// For each row: the sum of its loop-carried values, which start with a number of the row, and the final one.
constexpr auto panel = od::fn<"panel">([](auto x, auto starts, auto by) {
  return od::sum(od::map(
      [&](auto row, auto start) {
        auto const [last, states] = od::scan(
            [&](auto s, auto e) {
              auto const next = od::floor(by * s + e);
              return std::pair(next, next * e);
            },
            start, row);
        return last + 0.25 * od::sum(states);
      },
      x, starts));
});

rows of(std::vector<std::vector<double>> const& x) {
  std::vector<numbers> all;
  for (auto const& row : x) all.push_back(numbers::copy_of(row));
  return rows::copy_of(all);
}
bool has(std::string const& text, char const* what) { return text.find(what) != text.npos; }

// Loops that return nothing but their final loop-carried values.
constexpr auto fading = od::fn<"fading">([](auto u, auto by) {
  return od::loop(od::size(u), u[0], [&](auto t, auto s) { return od::floor(by * s) + u[t]; });
});
constexpr auto lagging =
    od::fn<"lagging">([](auto u, auto by) { // reads the element before, and one that all iterations read
      return od::loop(od::size(u) - 1, 0.5 * by, [&](auto t, auto s) {
        return od::max(od::floor(by * s), u[t] - 0.25 * u[2]);
      });
    });
constexpr auto two_carried = od::fn<"two_carried">([](auto u, auto by) {
  auto const [a, b] = od::loop(od::size(u), std::pair(by, 1.0 - by), [&](auto t, auto both) {
    auto const [x, y] = both;
    return std::pair(od::floor(by * y) + u[t], od::floor(by * x));
  });
  return a - 2.0 * b;
});
constexpr auto branching = od::fn<"branching">([](auto u, auto by) {
  return od::loop(od::size(u), by, [&](auto t, auto s) {
    return od::if_(
        u[t] > 1.0, [&] { return od::floor(by * s) + u[t]; }, [&] { return od::log(u[t]) * s; });
  });
});
constexpr auto beside = od::fn<"beside">([](auto u, auto by) { // two iterations read each element
  return od::loop(od::size(u) - 1, by, [&](auto t, auto s) { return od::floor(by * s) + u[t] * u[t + 1]; });
});

} // namespace

TEST_CASE("a loop in an iteration of a map runs from the first affected iteration to the early cutoff") {
  for (od::compile_options const& o : executors()) {
    std::vector<std::vector<double>> x(7, std::vector<double>(40));
    std::vector<double> starts(7);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t t = 0; t < x[i].size(); ++t) x[i][t] = static_cast<double>((i * 13 + t * 7) % 11) / 4;
    auto f = od::incremental(o, panel, of(x), numbers::copy_of(starts), 0.5);
    for (std::size_t k = 0; k < 60; ++k) {
      std::size_t const i = k * 3 % x.size(), t = k * 17 % x[i].size();
      double const e = static_cast<double>(k * 5 % 23) / 4;
      f.set_at<0>(i, t, e);
      f.propose();
      std::string const ran = f.explain();
      if (ran != "nothing ran\n") {
        CHECK(has(ran, "loop: from the first affected iteration on"));
        CHECK_FALSE(has(ran, "recomputed in full"));
      }
      if (k % 3 == 0) {
        f.rollback();
        continue;
      }
      f.commit();
      x[i][t] = e;
      if (k % 4 == 0) { // initial values
        starts[i] = e - 1;
        f.set_at<1>(i, e - 1);
        f.commit();
      }
      INFO("update " << k);
      REQUIRE(f.value() == Approx(panel(of(x), numbers::copy_of(starts), 0.5)).epsilon(1e-13));
    }
    // No operation runs over all iterations.
    auto const& programs = f.program().update_programs();
    auto saved = programs.variables();
    std::string const text = od::ir::print(
        od::increments::make_update_program(
            programs.program(), programs.program().entry, saved, {{.elements = 1, .indices = 2}, {}, {}})
            .program);
    CHECK(has(text, " while "));
    CHECK_FALSE(has(text, " loop "));
    f.set<2>(0.25); // used by all iterations
    f.commit();
    CHECK(f.value() == Approx(panel(of(x), numbers::copy_of(starts), 0.25)).epsilon(1e-13));
  }
}

TEST_CASE("rows are appended with their loops, and two rows may change in one update") {
  std::vector<std::vector<double>> x{{1, 2, 3}, {4, 5, 6}};
  std::vector<double> starts{0.5, 0.25};
  auto f = od::incremental(panel, of(x), numbers::copy_of(starts), 0.5);
  auto const check = [&] { CHECK(f.value() == Approx(panel(of(x), numbers::copy_of(starts), 0.5))); };
  f.append<0>(numbers{7, 8, 9});
  f.append<1>(2.0);
  f.commit();
  x.push_back({7, 8, 9});
  starts.push_back(2.0);
  check();
  f.set_at<0>(2, 1, -8.0);
  f.set_at<0>(0, 2, 3.5);
  f.propose();
  CHECK_FALSE(has(f.explain(), "recomputed in full"));
  f.commit();
  x[2][1] = -8;
  x[0][2] = 3.5;
  check();
}

TEST_CASE("a single affected iteration is peeled off, and later ones do not compare indices") {
  auto const check = [](od::compile_options const& o, auto const& f) {
    std::vector<double> u;
    for (int t = 0; t < 24; ++t) u.push_back((t * 7 % 11) / 4.0);
    auto followed = od::incremental(o, f, numbers::copy_of(u), 0.5);
    auto const is = [](double now, double wanted) {
      CHECK(((std::isnan(now) && std::isnan(wanted)) || now == Approx(wanted).epsilon(1e-13)));
    };
    double const given[] = {3.0, 0.0, -0.0, -2.0, std::numeric_limits<double>::infinity(), 1.25, 0.5};
    for (std::size_t k = 0; k < 200; ++k) {
      std::size_t const t = k % 8 == 0 ? 23 : k % 8 == 1 ? 0 : k * 5 % 24; // at both ends, too
      double const before = std::exchange(u[t], given[k % 7]);
      followed.template set_at<0>(t, u[t]);
      INFO("update " << k << " of the element " << t);
      is(followed.propose(), f(numbers::copy_of(u), 0.5));
      if (k % 3 == 0) {
        followed.rollback();
        u[t] = before;
      } else {
        followed.commit();
      }
      is(followed.value(), f(numbers::copy_of(u), 0.5));
    }
    followed.template set<1>(0.25);
    followed.commit();
    is(followed.value(), f(numbers::copy_of(u), 0.25));
  };
  for (od::compile_options const& o : executors()) {
    check(o, fading);
    check(o, lagging);
    check(o, two_carried);
    check(o, branching);
    check(o, beside);
  }
  auto const text_of = [](auto const& f) {
    auto const followed = od::incremental(f, numbers{1, 2, 3, 4}, 0.5);
    auto const& programs = followed.program().update_programs();
    auto saved = programs.variables();
    std::string const text = od::ir::print(
        od::increments::make_update_program(
            programs.program(), programs.program().entry, saved, {{.elements = 1, .indices = 1}, {}})
            .program);
    std::size_t const body = text.find(" do (");
    REQUIRE(body != text.npos);
    return text.substr(body, text.find("yield", body) - body);
  };
  CHECK_FALSE(has(text_of(two_carried), "select"));
  CHECK_FALSE(has(text_of(lagging), "select"));
  CHECK(has(text_of(beside), "select"));
}

TEST_CASE("different inputs change alternately, and elements narrower than a word are set as others are") {
  constexpr auto f = od::fn<"chosen">([](auto x, auto is, auto small) {
    return od::sum(
        od::map([](auto a, auto b, auto c) { return od::select(b, a, 0.5 * a) + c; }, x, is, small));
  });
  for (od::compile_options const& o : executors()) {
    std::vector<double> x(9, 1.0);
    std::vector<float> small(9, 0.5f);
    auto is = od::array<bool>{true, false, true, false, true, false, true, false, true};
    std::vector<bool> bools{true, false, true, false, true, false, true, false, true};
    auto followed = od::incremental(o, f, numbers::copy_of(x), is, od::array<float>::copy_of(small));
    for (std::size_t k = 0; k < 90; ++k) {
      std::size_t const i = k * 4 % 9;
      bool const is_rolled_back = k % 4 == 3;
      double const number = static_cast<double>(k % 13) / 8;
      if (k % 3 == 0) followed.set_at<0>(i, number);
      if (k % 3 == 1 || k % 7 == 0) followed.set_at<1>(i, k % 2 == 0);
      if (k % 3 == 2 || k % 5 == 0) followed.set_at<2>(i, static_cast<float>(number));
      followed.propose();
      if (is_rolled_back) {
        followed.rollback();
      } else {
        followed.commit();
        if (k % 3 == 0) x[i] = number;
        if (k % 3 == 1 || k % 7 == 0) bools[i] = k % 2 == 0;
        if (k % 3 == 2 || k % 5 == 0) small[i] = static_cast<float>(number);
      }
      double sum = 0;
      for (std::size_t j = 0; j < 9; ++j)
        sum += (bools[j] ? x[j] : 0.5 * x[j]) + static_cast<double>(small[j]);
      INFO("update " << k);
      REQUIRE(followed.value() == Approx(sum).epsilon(1e-13));
      CHECK(followed.get_at<0>(i) == x[i]);
      CHECK(followed.get_at<1>(i) == bools[i]);
      CHECK(followed.get_at<2>(i) == small[i]);
    }
    CHECK_THROWS_AS(followed.set_at<0>(9, 1.0), od::index_error);
    CHECK_THROWS_AS(followed.set_at<0>(-1, 1.0), od::index_error);
  }
}
