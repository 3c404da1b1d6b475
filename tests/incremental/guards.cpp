// incremental: guards. If a recomputed number is unchanged, nothing that depends on it runs.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;

std::size_t count_of(std::string const& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}
template <class F>
std::string ran(F& f) {
  f.propose();
  return f.explain();
}
bool runs_all(std::string const& text) { return count_of(text, "recomputed in full") > 0; }
bool has_unchanged(std::string const& text) { return count_of(text, "unchanged") > 0; }

// Each depends on one number that rarely changes, and on the others element by element.
constexpr auto above_first =
    od::fn<"above_first">([](auto x) { return od::sum(od::map([&](auto e) { return e - x[0]; }, x)); });
constexpr auto log_sum_exp = od::fn<"log_sum_exp">([](auto x) {
  auto const largest = od::reduce(od::max, x);
  return largest + od::log(od::sum(od::map([&](auto e) { return od::exp(e - largest); }, x)));
});
constexpr auto in_steps = od::fn<"in_steps">([](auto x, auto level) {
  auto const whole = od::floor(level);
  return od::sum(od::map([&](auto e) { return e * whole; }, x));
});
constexpr auto by_sign = od::fn<"by_sign">([](auto x, auto side) {
  return od::if_(
      side < 0.0, [&] { return od::sum(od::map([](auto e) { return e * e; }, x)); },
      [&] { return od::sum(od::map([](auto e) { return od::abs(e); }, x)); });
});
constexpr auto settled = od::fn<"settled">([](auto u, auto x) {
  auto const last = od::loop(od::size(u), 0.0, [&](auto t, auto s) { return od::floor(0.5 * s + u[t]); });
  return od::sum(od::map([&](auto e) { return e * last; }, x));
});

} // namespace

TEST_CASE("an element that all iterations use is unchanged when another one is set") {
  for (od::compile_options const& o : executors()) {
    numbers x{1.0, 2.0, 4.0, 8.0};
    auto f = od::incremental(o, above_first, x);
    f.set_at<0>(2, 5.0);
    std::string const text = ran(f);
    CHECK(has_unchanged(text));
    CHECK(count_of(text, "one iteration") == 1);
    CHECK_FALSE(runs_all(text));
    f.rollback();
    for (i64 const i : {0, 3, 0, 1}) {
      double const e = f.value() + 10.0;
      f.set_at<0>(i, e);
      x = od::update(x, i, e);
      CHECK(runs_all(ran(f)) == (i == 0));
      f.commit();
      CHECK(f.value() == above_first(x));
    }
    CHECK(f.program().update_programs().count() == 2);
  }
}

TEST_CASE("where a maximum is unchanged, the iterations that use it do not run") {
  for (od::compile_options const& o : executors()) {
    std::vector<double> all(1000);
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = std::sin(static_cast<double>(k));
    all[500] = 3;
    auto f = od::incremental(o, log_sum_exp, numbers::copy_of(all));
    for (std::size_t const k : {1u, 999u, 17u}) {
      all[k] = 2.5 + 0.001 * static_cast<double>(k % 10);
      f.set_at<0>(k, all[k]);
      std::string const text = ran(f);
      CHECK(has_unchanged(text));
      CHECK_FALSE(runs_all(text));
      f.commit();
      CHECK(f.value() == Approx(log_sum_exp(numbers::copy_of(all))).epsilon(1e-14));
    }
    all[2] = 7;
    f.set_at<0>(2, 7.0);
    CHECK(runs_all(ran(f)));
    f.commit();
    CHECK(f.value() == Approx(log_sum_exp(numbers::copy_of(all))).epsilon(1e-14));
  }
}

TEST_CASE("a rounded number is unchanged where its bits are, and a NaN always differs") {
  for (od::compile_options const& o : executors()) {
    numbers const x{1.0, 2.0, 4.0};
    auto f = od::incremental(o, in_steps, x, 0.25);
    double const nan = std::numeric_limits<double>::quiet_NaN();
    double before = 0.25;
    for (double const level : {0.75, 1.5, 1.0, -0.0, 0.0, 0.5, nan, nan, 2.0}) {
      f.set<1>(level);
      bool const is_same =
          std::floor(level) == std::floor(before) && std::signbit(level) == std::signbit(before);
      INFO(before << " becomes " << level);
      std::string const text = ran(f);
      if (text != "nothing ran\n") CHECK(runs_all(text) == !is_same);
      f.commit();
      double const value = f.value(), wanted = in_steps(x, level);
      CHECK((value == wanted || (std::isnan(value) && std::isnan(wanted))));
      CHECK(std::signbit(value) == std::signbit(wanted));
      before = level;
    }
  }
}

TEST_CASE("a change without effect runs the operations up to the guard, and nothing else") {
  auto f = od::incremental(in_steps, numbers{1.0, 2.0, 4.0}, 0.25);
  auto const& function = f.program().update_programs().function();
  f.set<1>(0.75);
  f.commit(); // the rounded number is saved from now on
  f.set<1>(0.5);
  CHECK(f.propose() == 0);
  auto const steps = f.program().steps();
  REQUIRE(steps.size() == 1);
  CHECK(function[steps[0].node].code == od::ir::op::floor);
  CHECK(steps[0].ran == od::increments::step::extent::unchanged);
  f.set<1>(1.5);
  f.propose();
  std::vector<od::ir::op> ran;
  for (od::increments::step const& s : f.program().steps()) ran.push_back(function[s.node].code);
  CHECK(ran == std::vector{od::ir::op::floor, od::ir::op::map, od::ir::op::reduce});
  f.commit();
  CHECK(f.program().steps().empty());
  f.set<1>(1.5); // no change
  f.propose();
  CHECK(f.program().steps().empty());
}

TEST_CASE("a branch whose condition is unchanged does not run") {
  for (od::compile_options const& o : executors()) {
    numbers x{1.0, -2.0, 4.0};
    auto f = od::incremental(o, by_sign, x, 1.0);
    f.set<1>(3.0);
    CHECK(ran(f).find("branch") == std::string::npos);
    f.commit();
    CHECK(f.value() == 7.0);
    f.set<1>(-3.0);
    f.set_at<0>(0, 2.0); // both at once
    f.commit();
    CHECK(f.value() == 24.0);
    f.set<1>(-4.0);
    f.set_at<0>(0, 1.0);
    CHECK_FALSE(runs_all(ran(f)));
    f.commit();
    CHECK(f.value() == 21.0);
  }
}

TEST_CASE("the final loop-carried value is unchanged after an early cutoff") {
  for (od::compile_options const& o : executors()) {
    std::vector<double> u(100, 0.25);
    numbers const x{1.0, 2.0, 4.0};
    auto f = od::incremental(o, settled, numbers::copy_of(u), x);
    for (std::size_t const t : {10u, 50u, 99u, 20u}) {
      u[t] += 7;
      f.set_at<0>(t, u[t]);
      std::string const text = ran(f);
      CHECK(runs_all(text) == (t == 99));
      f.commit();
      CHECK(f.value() == settled(numbers::copy_of(u), x));
    }
  }
}

TEST_CASE("numbers of an array that are read one by one are updated one by one") {
  constexpr auto plates = od::fn<"plates">([](auto theta, auto x) {
    auto const part = [&](auto k) { return od::sum(od::map([&](auto e) { return e * theta[k]; }, x)); };
    return part(0) + part(1) + part(2) + part(3) + part(4) + part(5) + part(6) + part(7) + part(8) + part(9) +
           part(10) + part(11) + part(12) + part(13) + part(14) + part(15) + part(16) + part(17);
  });
  constexpr i64 size = 18;
  std::vector<double> theta(size, 1.0);
  numbers x{1.0, 2.0, 4.0};
  auto f = od::incremental(plates, numbers::copy_of(theta), x);
  for (i64 round = 0; round < 2; ++round)
    for (i64 k = 0; k < size; ++k) {
      double& e = theta[static_cast<std::size_t>(k)];
      e += 1.0;
      f.set_at<0>(k, e);
      std::size_t const plates_that_ran = count_of(ran(f), "map: recomputed in full");
      // At most so many update programs differ by their guards, and one has none.
      CHECK(
          plates_that_ran ==
          (k + 1 < static_cast<i64>(od::update_program_cache::maximum_guard_sets) ? 1 : size));
      f.commit();
      CHECK(f.value() == plates(numbers::copy_of(theta), x));
    }
  CHECK(f.program().update_programs().count() <= od::update_program_cache::maximum_guard_sets + 1);
}

TEST_CASE("elements at fixed indices are guarded in branches and iterations, too") {
  for (od::compile_options const& o : executors()) {
    constexpr auto in_branch = od::fn<"in_branch">([](auto x, auto side) {
      return od::if_(
          side < 0.0, [&] { return od::sum(od::map([&](auto e) { return e * x[0]; }, x)); },
          [&] { return od::sum(od::map([&](auto e) { return e - x[0]; }, x)); });
    });
    numbers x{1.0, 2.0, 4.0};
    auto f = od::incremental(o, in_branch, x, 1.0);
    f.set_at<0>(2, 5.0);
    CHECK_FALSE(runs_all(ran(f)));
    f.commit();
    CHECK(f.value() == 1.0 + 4.0);
    f.set_at<0>(0, 0.5);
    f.commit();
    CHECK(f.value() == 1.5 + 4.5);

    constexpr auto of_rows = od::fn<"of_rows">([](auto rows) {
      return od::sum(
          od::map([](auto row) { return od::sum(od::map([&](auto e) { return e - row[0]; }, row)); }, rows));
    });
    auto g = od::incremental(o, of_rows, od::array<numbers>{numbers{1.0, 2.0, 3.0}, numbers{4.0, 7.0, 9.0}});
    g.set_at<0>(1, 2, 10.0);
    CHECK_FALSE(runs_all(ran(g)));
    g.commit();
    CHECK(g.value() == 3.0 + 9.0);
    g.set_at<0>(1, 0, 5.0);
    g.commit();
    CHECK(g.value() == 3.0 + 7.0);
  }
}

TEST_CASE("an unchanged number is compared once, however often it is used") {
  constexpr auto logistic = od::fn<"logistic">([](auto x, auto y) {
    auto z = 3.7 * y * (1.0 - y);
    for (int k = 0; k < 60; ++k) z = 3.7 * z * (1.0 - z);
    auto const whole = od::floor(4.0 * z);
    return od::sum(od::map([&](auto e) { return e * whole; }, x));
  });
  numbers const x{1.0, 2.0};
  auto f = od::incremental(logistic, x, 0.3);
  for (double const y : {0.31, 0.32, 0.33, 0.34}) {
    f.set<1>(y);
    f.commit();
    CHECK(f.value() == logistic(x, y));
  }
}

TEST_CASE("if a guard fails mostly, the fallback runs at once") {
  constexpr auto parts = od::fn<"parts">([](auto x, auto y, auto scale) {
    auto const part = [&](auto const& of) {
      auto const all = od::map([&](auto e) { return e * scale; }, of);
      auto const largest = od::reduce(od::max, all);
      return od::sum(od::map([&](auto e) { return e - largest; }, all));
    };
    return part(x) + 2.0 * part(y);
  });
  numbers x{1.0, 2.0, 4.0}, y{3.0, 1.0};
  auto f = od::incremental(parts, x, y, 1.0);
  for (int k = 1; k <= 3000; ++k) {
    double const scale = 1.0 + 0.25 * (k % 7);
    if (k % 900 > 800) { // then the guards hold
      x = od::update(x, 1, scale);
      f.set_at<0>(1, scale);
    } else {
      f.set<2>(scale);
    }
    f.commit();
    double const now = k % 900 > 800 ? 1.0 + 0.25 * ((k / 900 * 900 + 800) % 7) : scale;
    REQUIRE(f.value() == Approx(parts(x, y, now)).epsilon(1e-12));
  }
  CHECK(f.program().update_programs().count() < 8);
}

TEST_CASE("a missing neighbour affects only the rows that would read it") {
  constexpr auto of_next = od::fn<"of_next">([](auto rows) {
    return od::tabulate(od::size(rows) - 1, [&](auto i) {
      auto const next = rows[i + 1];
      return od::map([&](auto e) { return e + next[0]; }, rows[i]);
    });
  });
  auto f =
      od::incremental(of_next, od::array<numbers>{numbers{1.0, 2.0}, numbers{3.0, 4.0}, numbers{5.0, 6.0}});
  f.set_at<0>(0, 1, 8.0);
  CHECK(ran(f).find("a sum was not finite") == std::string::npos);
  f.commit();
  CHECK(f.value() == od::array<numbers>{numbers{4.0, 11.0}, numbers{8.0, 9.0}});
  f.set_at<0>(2, 0, 7.0);
  f.commit();
  CHECK(f.value() == od::array<numbers>{numbers{4.0, 11.0}, numbers{10.0, 11.0}});
}
