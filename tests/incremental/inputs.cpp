// incremental: setting, reading, moving and rejecting inputs.
#include "catch.hpp"

#include <overdub/incremental.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/overdub.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;
using indices = od::array<i64>;

constexpr auto weighted = od::fn<"weighted">([](auto z, auto x, auto weights, auto by) {
  return by * od::sum(od::map([&](auto k, auto y) { return weights[k] * y; }, z, x));
});
constexpr auto of_many = od::fn<"of_many">(
    [](auto x, auto a, auto b, auto c, auto d, auto e, auto f, auto g, auto h, auto i, auto k) {
      return od::sum(od::map([&](auto y) { return y * a; }, x)) + b * c + d * e + f * g + h * i + k;
    });

} // namespace

TEST_CASE("difference is defined for a current proposal alone") {
  constexpr auto total = od::fn<"total">([](auto x) { return od::sum(x); });
  auto f = od::incremental(total, numbers{1, 2, 3});
  CHECK(f.difference() == 0);
  f.set_at<0>(0, 5.0);
  CHECK_THROWS_WITH(f.difference(), Catch::Contains("the changes of @total were not proposed"));
  f.propose();
  CHECK(f.difference() == 4);
  f.set_at<0>(1, 5.0);
  CHECK_THROWS_AS(f.difference(), od::incremental_error);
  f.commit();
  CHECK(f.difference() == 0);
}

TEST_CASE("get returns committed arguments, without pending changes") {
  constexpr auto all = od::fn<"all">([](auto z, auto x, auto matrix, auto by) {
    auto const row = [&](auto const& r) { return od::sum(r) * by; };
    return od::sum(od::map(row, matrix)) + od::sum(od::map([&](auto k) { return x[k]; }, z));
  });
  auto f = od::incremental(
      all, indices{0, 1}, numbers{1.5, 2.5}, od::array<numbers>{numbers{1, 2}, numbers{3, 4}}, 2.0f);
  f.set_at<0>(1, 0);
  f.set_at<1>(0, -1.0);
  f.set_at<2>(1, 0, 8.0);
  f.set<3>(0.5f);
  auto const check = [&](i64 z, double x, double element, float by) {
    static_assert(std::is_same_v<decltype(f.get_at<0>(1)), i64>);
    static_assert(std::is_same_v<decltype(f.get<3>()), float>);
    CHECK(f.get_at<0>(1) == z);
    CHECK(f.get_at<1>(0) == x);
    CHECK(f.get<1>()[0] == x);
    CHECK(f.get_at<2>(1, 0) == element);
    CHECK(f.get<2>()[1][0] == element);
    CHECK(f.get<3>() == by);
  };
  check(1, 1.5, 3, 2.0f);
  f.propose();
  check(1, 1.5, 3, 2.0f);
  f.commit();
  check(0, -1.0, 8, 0.5f);
  CHECK_THROWS_WITH(f.get_at<1>(2), "overdub: input 1 has 2 elements along this axis, and none at 2");
  CHECK_THROWS_AS(f.get_at<2>(1, -1), od::index_error);
}

TEST_CASE("alternating change signatures that write the same sums read what the others wrote") {
  constexpr auto both = od::fn<"both">([](auto x, auto y, auto by, auto flag) {
    return od::sum(od::map([&](auto e) { return e * by; }, x)) * od::sum(y) + od::select(flag, 1.0, 0.0);
  });
  numbers x{1, 2, 3}, y{4, 5};
  double by = 2;
  bool flag = false;
  auto f = od::incremental(both, x, y, by, flag);
  CHECK_FALSE(f.get<3>());
  for (int round = 0; round < 40; ++round) {
    double const e = 0.5 * round;
    bool const is_committed = round % 3 != 2;
    auto const change = [&](auto& to, i64 i, double value) {
      if (is_committed) to = od::update(to, i, value);
    };
    switch (round % 5) {
    case 0:
      f.set_at<0>(round % 3, e);
      change(x, round % 3, e);
      break;
    case 1:
      f.set_at<1>(round % 2, -e);
      change(y, round % 2, -e);
      break;
    case 2:
      f.set<2>(e);
      if (is_committed) by = e;
      break;
    case 3:
      f.set_at<0>(0, e);
      f.set_at<1>(1, e + 1);
      change(x, 0, e);
      change(y, 1, e + 1);
      break;
    default:
      f.set<3>(round % 2 == 0);
      if (is_committed) flag = round % 2 == 0;
    }
    f.propose();
    if (is_committed)
      f.commit();
    else
      f.rollback();
    INFO("round " << round);
    CHECK(f.value() == Approx(both(x, y, by, flag)).epsilon(1e-13));
  }
}

TEST_CASE("a computation is moved with its saved values") {
  auto f = od::incremental(weighted, indices{0, 1}, numbers{0.5, 0.25}, numbers{0.0, 1.0}, 1.0);
  f.set_at<0>(0, 1);
  f.propose();
  auto g = std::move(f);
  g.commit();
  g.set_at<2>(1, 2.0);
  g.commit();
  CHECK(g.value() == Approx(weighted(indices{1, 1}, numbers{0.5, 0.25}, numbers{0.0, 2.0}, 1.0)));
}

TEST_CASE("an assignment of a computation to itself changes nothing") {
  auto f = od::incremental(weighted, indices{0, 1}, numbers{0.5, 0.25}, numbers{0.0, 1.0}, 1.0);
  auto& same = f;
  double const value = f.value();
  f = same;
  CHECK(f.value() == value);
  f = std::move(same);
  CHECK(f.value() == value);
}

TEST_CASE("an object that was moved from throws, and can be assigned to") {
  auto f = od::incremental(weighted, indices{0, 1}, numbers{0.5, 0.25}, numbers{0.0, 1.0}, 1.0);
  f.set_at<0>(0, 1);
  f.propose();
  auto g = std::move(f);
  char const* const moved =
      "overdub: this incremental computation was moved from, and has no value any more; "
      "assign to it before it is used";
  CHECK_THROWS_WITH(f.commit(), moved); // the proposal was moved, too
  CHECK_THROWS_WITH(f.value(), moved);
  CHECK_THROWS_WITH(f.get<0>(), moved);
  CHECK_THROWS_WITH(f.get<3>(), moved);
  CHECK_THROWS_WITH(f.get_at<1>(0), moved);
  CHECK_THROWS_WITH(f.set<3>(2.0), moved);
  CHECK_THROWS_WITH(f.set<1>(numbers{1, 2}), moved);
  CHECK_THROWS_WITH(f.set_at<0>(0, 1), moved);
  CHECK_THROWS_WITH(f.append<1>(1.0), moved);
  CHECK_THROWS_WITH(f.propose(), moved);
  CHECK_THROWS_WITH(f.commit(), moved);
  CHECK(f.explain() == "nothing ran\n");
  auto const copy = f;
  CHECK_THROWS_WITH(copy.value(), moved);
  f = g;
  CHECK(f.value() == g.value());
}

TEST_CASE("change signatures of many inputs are distinguished") {
  auto f = od::incremental(of_many, numbers{1, 2, 3}, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0);
  double x[] = {1, 2, 3}, b = 1, k = 1;
  auto const wanted = [&] { return 2 * (x[0] + x[1] + x[2]) + b + 3 + k; };
  for (int n = 0; n < 40; ++n) {
    i64 const at = n * 5 % 3;
    double const other = 0.5 * n + 0.25;
    if (n % 5 < 3) f.set_at<0>(at, x[at] = other);
    if (n % 5 == 3 || n % 7 == 2) f.set<2>(b = other);
    if (n % 5 == 4) f.set<10>(k = other); // in the signature code it shares bits with the first input
    double const proposed = f.propose();
    CHECK(proposed == Approx(wanted()));
    f.commit();
    CHECK(f.value() == proposed);
  }
}

TEST_CASE(
    "the arguments of an update program have elements that were set again, rolled back, or set together") {
  auto f = od::incremental(of_many, numbers{1, 2, 3}, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0);
  for (int n = 0; n < 3; ++n) { // the update program is bound, and ready
    f.set_at<0>(1, 5.0 + n);
    f.commit();
  }
  f.set_at<0>(0, 4.0);
  f.rollback();
  f.set_at<0>(2, 10.0);
  f.set_at<0>(2, 4.0);
  CHECK(f.propose() == 2 * (1 + 7 + 4) + 5);
  f.set_at<0>(2, 6.0);
  CHECK(f.propose() == 2 * (1 + 7 + 6) + 5);
  f.set_at<0>(0, 2.0);
  CHECK(f.propose() == 2 * (2 + 7 + 6) + 5);
  f.rollback();
  f.set_at<0>(1, 7.0); // no change
  CHECK(f.propose() == 2 * (1 + 7 + 3) + 5);
  f.set_at<0>(2, 4.0);
  f.commit();
  CHECK(f.value() == 2 * (1 + 7 + 4) + 5);
}

TEST_CASE("if the function throws, the inputs are unchanged and the changes stay pending") {
  auto f = od::incremental(weighted, indices{0, 1}, numbers{0.5, 0.25}, numbers{0.0, 1.0}, 1.0);
  double const before = f.value();
  f.set_at<0>(0, 2); // there are two means
  CHECK_THROWS_AS(f.propose(), od::index_error);
  CHECK_THROWS_AS(f.commit(), od::index_error);
  CHECK(f.value() == before);
  f.set_at<0>(0, 1);
  CHECK(f.propose() == Approx(weighted(indices{1, 1}, numbers{0.5, 0.25}, numbers{0.0, 1.0}, 1.0)));
  f.rollback();
  CHECK(f.propose() == before);
  CHECK_THROWS_AS(f.set_at<0>(2, 0), od::index_error);
  CHECK_THROWS_AS(f.set_at<0>(-1, 0), od::index_error);
  CHECK(f.propose() == before);
}

TEST_CASE("side effects are rejected with a diagnostic") {
  od::ir::program const p = od::ir::parse(R"(
entry @f
func @f(%x: f64) -> f64 {
  host ordered "print"(%x)
  return %x
})");
  CHECK_THROWS_WITH(
      od::update_program_cache(p, od::compile_options()),
      Catch::Contains("@f draws random numbers, reads its context, or has side effects"));
}

TEST_CASE("inputs whose types are known at run time are checked") {
  od::ir::program const p = od::ir::parse(R"(
entry @f
func @f(%x: f64[], %n: i64) -> f64 {
  %y = at %x, %n : f64
  return %y
})");
  auto const s = std::make_shared<od::update_program_cache>(p, od::compile_options());
  CHECK_THROWS_WITH(
      od::incremental_program(s, {od::datum(numbers{1.0})}), Catch::Contains("takes 2 arguments"));
  CHECK_THROWS_WITH(
      od::incremental_program(s, {od::datum(numbers{1.0}), od::datum(1.0)}),
      Catch::Contains("input 1 is i64"));
  od::incremental_program f(s, {od::datum(numbers{1.0, 2.0}), od::datum(i64{0})});
  CHECK_THROWS_WITH(f.set(0, od::datum(1.0)), Catch::Contains("input 0 is f64[], and was given f64"));
  i64 const path[] = {0, 0};
  CHECK_THROWS_WITH(f.set_at(0, path, 0), Catch::Contains("has 1 axes"));
  CHECK_THROWS_WITH(f.set(2, od::datum(1.0)), Catch::Contains("input 2 was set, and the function has 2"));
  f.set(1, od::datum(i64{1}));
  f.commit();
  CHECK(f.result(0).as<double>() == 2.0);
  CHECK(f.input(1).as<i64>() == 1);
}
