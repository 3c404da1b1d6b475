// Trace translators: weights by hand, weights of inverse translations, estimates of the evidence, and diagnostics.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/models/trace_translator.hpp>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;
using Catch::Matchers::Contains;
using od::i64;

constexpr auto nothing = [](auto const&) { return ms::no_auxiliary(); };

// A standard deviation, on the log scale and on its own.
inline constexpr auto by_logarithm = od::fn<"by_logarithm">([](od::scope auto& cx) {
  auto const s = cx(od::sample<"log_sd">, ds::normal(0, 1));
  return cx(od::sample<"y">, ds::normal(0, exp(s)));
});
inline constexpr auto by_deviation = od::fn<"by_deviation">([](od::scope auto& cx) {
  auto const sd = cx(od::sample<"sd">, ds::half_normal(2));
  return cx(od::sample<"y">, ds::normal(0, sd));
});
constexpr auto exponential = [](auto const& t) { t.model.write("sd", od::exp(t.model.real("log_sd"))); };
constexpr auto logarithm = [](auto const& t) { t.model.write("log_sd", od::log(t.model.real("sd"))); };

// A common mean of the observations, or one mean each.
inline constexpr auto pooled = od::fn<"pooled">([](od::scope auto& cx) {
  auto const m = cx(od::sample<"m">, ds::normal(0, 2));
  (void)cx(od::sample<"y">, ds::normal(m, 1));
  return cx(od::sample<"z">, ds::normal(m, 1));
});
inline constexpr auto apart = od::fn<"apart">([](od::scope auto& cx) {
  auto const m = cx(od::tabulate, i64{2}, [&](auto) { return cx(od::sample<"m">, ds::normal(0, 2)); });
  (void)cx(od::sample<"y">, ds::normal(m[0], 1));
  return cx(od::sample<"z">, ds::normal(m[1], 1));
});
inline constexpr auto half_distance =
    od::fn<"half_distance">([](od::scope auto& cx) { return cx(od::sample<"d">, ds::normal(0, 1)); });
constexpr auto distance_of = [](auto const&) { return ms::model(half_distance); };
constexpr auto split = [](auto const& t) {
  auto const m = t.model.real("m"), d = t.auxiliary.real("d");
  t.model.write("m[0]", m + d);
  t.model.write("m[1]", m - d);
};
constexpr auto merge = [](auto const& t) {
  auto const a = t.model.real("m[0]"), b = t.model.real("m[1]");
  t.model.write("m", 0.5 * (a + b));
  t.auxiliary.write("d", 0.5 * (a - b));
};
ms::choice_map const seen{{"y", 1.0}, {"z", 2.5}};

double log_normal(double x, double variance) {
  return -0.5 * x * x / variance - 0.5 * std::log(2 * std::numbers::pi * variance);
}

} // namespace

TEST_CASE("a translation's weight is the ratio of the densities times the Jacobian's determinant") {
  auto const from = ms::model(by_logarithm);
  auto const to = ms::model(by_deviation);
  ms::choice_map const y{{"y", 0.7}};
  ms::trace_translator const there(to, y, nothing, nothing, exponential, y);
  ms::trace_translator const back(from, y, nothing, nothing, logarithm, y);
  for (i64 k = 0; k < 20; ++k) {
    auto const t = from.generate(y, od::random_key(1).at(k)).of;
    auto const u = there.checked(logarithm, t, od::random_key(2));
    double const s = t.get<double>("log_sd");
    CHECK(u.of.get<double>("sd") == std::exp(s));
    CHECK(u.weight == Approx(u.of.score() - t.score() + s).epsilon(1e-13));
    CHECK(u.weight + back(u.of, od::random_key(2)).weight == Approx(0).margin(1e-12));
  }
}

TEST_CASE(
    "a translation and its inverse have opposite weights, with auxiliary models, and of dynamic models") {
  auto const check = [](auto const& from, auto const& to) {
    ms::trace_translator const there(to, seen, distance_of, nothing, split, seen);
    ms::trace_translator const back(from, seen, nothing, distance_of, merge, seen);
    for (i64 k = 0; k < 20; ++k) {
      auto const t = from.generate(seen, od::random_key(3).at(k)).of;
      auto const u = there.checked(merge, t, od::random_key(4).at(k));
      auto const v = back(u.of, od::random_key(5));
      CHECK(u.weight + v.weight == Approx(0).margin(1e-10));
      CHECK(v.of.template get<double>("m") == Approx(t.template get<double>("m")).margin(1e-12));
    }
  };
  check(ms::model(pooled), ms::model(apart));
  check(ms::dynamic_model(pooled), ms::dynamic_model(apart));
}

TEST_CASE("weighted translations estimate the evidence of the second model", "[statistics]") {
  auto const from = ms::model(pooled);
  auto const to = ms::model(apart);
  ms::trace_translator const there(to, seen, distance_of, nothing, split, seen);
  double sum = 0, squares = 0;
  std::size_t const n = 20'000;
  for (std::size_t k = 0; k < n; ++k) {
    auto const drawn = from.generate(seen, od::random_key(6).at(k));
    double const w = std::exp(drawn.weight + there(drawn.of, od::random_key(7).at(k)).weight);
    sum += w;
    squares += w * w;
  }
  auto const count = static_cast<double>(n);
  double const mean = sum / count, error = std::sqrt((squares / count - mean * mean) / count);
  double const exact = std::exp(log_normal(1.0, 5) + log_normal(2.5, 5));
  CHECK(std::abs(mean - exact) < 5 * error);
  CHECK(error < 0.05 * exact);
}

TEST_CASE("the determinant of a linear translation is the matrix's, for more numbers than are differentiated "
          "at once") {
  constexpr i64 n = 19;
  auto const m = ms::dynamic_model([](od::scope auto& cx) {
    return cx(od::tabulate, i64{19}, [&](auto) { return cx(od::sample<"x">, ds::normal(0, 1)); });
  });
  // A product of a lower and an upper triangular matrix, whose rows are in another order.
  auto const lower = [](i64 i, i64 j) {
    return i == j ? 1.0 : i > j ? 0.3 * std::sin(static_cast<double>(i + 2 * j)) : 0.0;
  };
  auto const upper = [](i64 i, i64 j) {
    return i == j  ? 0.5 + 0.1 * static_cast<double>(i)
           : i < j ? std::cos(static_cast<double>(3 * i + j))
                   : 0.0;
  };
  auto const linear = [&](auto const& t) {
    for (i64 i = 0; i < n; ++i) {
      auto sum = 0.0 * t.model.real({"x", {0}});
      for (i64 j = 0; j < n; ++j) {
        double entry = 0;
        for (i64 k = 0; k < n; ++k) entry += lower(i, k) * upper(k, j);
        sum = sum + entry * t.model.real({"x", {j}});
      }
      t.model.write({"x", {(i + 5) % n}}, sum);
    }
  };
  auto const t = m.simulate(od::random_key(8));
  auto const u = ms::trace_translator(m, {}, nothing, nothing, linear)(t, od::random_key(9));
  double determinant = 0;
  for (i64 i = 0; i < n; ++i) determinant += std::log(upper(i, i));
  CHECK(u.weight - u.of.score() + t.score() == Approx(determinant).epsilon(1e-9));
}

TEST_CASE("translators reject transforms that are no bijections of the unobserved choices") {
  auto const from = ms::model(pooled);
  auto const to = ms::model(apart);
  auto const t = from.generate(seen, od::random_key(1)).of;
  auto const with = [&](auto const& forward, auto const& f) {
    (void)ms::trace_translator(to, seen, forward, nothing, f, seen)(t, od::random_key(2));
  };
  auto const both = [](auto const& c) {
    c.model.write("m[0]", c.model.real("m"));
    c.model.write("m[1]", c.model.real("m"));
  };
  CHECK_THROWS_WITH(with(nothing, both), Contains("writes 2 continuous numbers, and reads 1"));
  CHECK_THROWS_WITH(with(distance_of, both), Contains("does not read the auxiliary choice d"));
  CHECK_THROWS_WITH(
      with(distance_of, [](auto const& c) { c.model.write("m[0]", c.auxiliary.real("d")); }),
      Contains("does not read the choice m"));
  CHECK_THROWS_WITH(
      with(nothing, [](auto const& c) { c.model.write("m[0]", c.model.real("m")); }),
      Contains("samples m[1], which was given no value"));
  CHECK_THROWS_WITH(
      with(distance_of, [](auto const& c) { split(c), c.auxiliary.write("v", c.model.real("y")); }),
      Contains("writes the auxiliary choice v, and its inverse has no auxiliary model"));
  CHECK_THROWS_WITH(
      ms::trace_translator(to, {}, distance_of, nothing, split)(t, od::random_key(2)),
      Contains("does not read the choice y"));
  ms::trace_translator const there(to, seen, distance_of, nothing, split, seen);
  CHECK_NOTHROW(there.checked(merge, t, od::random_key(2)));
  auto const shifted = [](auto const& c) {
    auto const a = c.model.real("m[0]"), b = c.model.real("m[1]");
    c.model.write("m", 0.5 * (a + b) + 1e-3);
    c.auxiliary.write("d", 0.5 * (a - b));
  };
  CHECK_THROWS_WITH(
      there.checked(shifted, t, od::random_key(2)),
      Contains("the inverse does not restore the choice m: it was"));
}
