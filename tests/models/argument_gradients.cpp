// Run by clang: whole models are differentiated in contexts.
// argument_gradients of staged and dynamic models, against finite differences; and gradient ascent by them.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/models/dynamic_gradients.hpp>
#include <overdub/models/model.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstddef>
#include <tuple>

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;
using od::i64;

namespace {

// Arguments of all kinds: numbers, arrays, tuples; integers and bools.
inline constexpr auto regression = od::fn<"regression">([](od::scope auto& cx, auto prior, auto const& xs,
                                                           auto const& terms, auto degree, auto is_wide) {
  auto const& [mean, sd] = prior;
  auto const slope = cx(od::sample<"slope">, ds::normal(mean, sd));
  auto const noise = cx(od::sample<"noise">, ds::gamma(2.0, exp(terms[degree])));
  return cx(
      od::map,
      [&](auto x) {
        return cx(
            od::sample<"y">, ds::normal(slope * x * terms[0], od::select(is_wide, 2.0 * noise, noise) + 0.1));
      },
      xs);
});
using prior = std::tuple<double, double>;
od::array<double> const xs{-1.0, 0.5, 2.0, 3.5, 0.25, -2.0, 1.0, 4.0, 0.125};
od::array<double> const terms{1.25, -0.5, 0.75};

template <class Score>
double difference(Score const& score, double x) {
  double const h = 1e-5 * std::max(1.0, std::abs(x));
  return (score(x + h) - score(x - h)) / (2 * h);
}
od::array<double> with_element(od::array<double> const& a, i64 i, double x) { return od::update(a, i, x); }

} // namespace

TEST_CASE("gradients by arguments agree with finite differences, of staged and of dynamic models") {
  prior const p{0.25, 1.5};
  for (int k = 0; k < 5; ++k) {
    od::random_key const key = od::random_key(3).at(k);
    bool const is_wide = k % 2 == 1;
    auto const staged = ms::model(regression, p, xs, terms, i64{2}, is_wide);
    auto const direct = ms::dynamic_model(regression, p, xs, terms, i64{2}, is_wide);
    auto const t = staged.simulate(key);
    auto const d = direct.simulate(key);
    auto const [dp, dx, dt, dn, db] = staged.argument_gradients(t);
    auto const [ep, ex, et, en, eb] = ms::argument_gradients(direct, d);
    CHECK(dn == 0);
    CHECK(en == 0);
    CHECK_FALSE(db);
    CHECK_FALSE(eb);
    ms::choice_map const choices = t.choices();
    auto const score = [&](prior const& q, od::array<double> const& x, od::array<double> const& c) {
      return staged.with(q, x, c, i64{2}, is_wide).assess(choices).score();
    };
    auto const close = [](double a, double b) { return Approx(a).epsilon(1e-6).margin(1e-6) == b; };
    auto const equal = [](double a, double b) { return Approx(a).epsilon(1e-11).margin(1e-11) == b; };
    double const mean = difference([&](double x) { return score({x, 1.5}, xs, terms); }, 0.25);
    double const sd = difference([&](double x) { return score({0.25, x}, xs, terms); }, 1.5);
    CHECK(close(std::get<0>(dp), mean));
    CHECK(close(std::get<1>(dp), sd));
    CHECK(equal(std::get<0>(dp), std::get<0>(ep)));
    CHECK(equal(std::get<1>(dp), std::get<1>(ep)));
    REQUIRE(dx.size() == xs.size());
    REQUIRE(ex.size() == xs.size());
    REQUIRE(et.size() == terms.size());
    for (i64 i = 0; i < xs.size(); ++i) {
      CHECK(
          close(dx[i], difference([&](double x) { return score(p, with_element(xs, i, x), terms); }, xs[i])));
      CHECK(equal(dx[i], ex[i]));
    }
    for (i64 i = 0; i < terms.size(); ++i) {
      CHECK(close(
          dt[i], difference([&](double x) { return score(p, xs, with_element(terms, i, x)); }, terms[i])));
      CHECK(equal(dt[i], et[i]));
    }
  }
}

TEST_CASE("parameters are arguments: ascent along their gradients finds the maximum of the likelihood") {
  constexpr auto normal = od::fn<"normal">([](od::scope auto& cx, auto mean, auto log_sd, auto n) {
    return cx(od::tabulate, n, [&](auto) { return cx(od::sample<"y">, ds::normal(mean, exp(log_sd))); });
  });
  od::array<double> const y{1.0, 2.0, 4.0, 5.0};
  auto m = ms::model(normal, 0.0, 0.0, y.size());
  double mean = 0, log_sd = 0;
  for (int k = 0; k < 400; ++k) {
    m = m.with(mean, log_sd, y.size());
    auto const [dm, ds_, dn] = m.argument_gradients(m.assess({{"y", y}}));
    mean += 0.1 * dm;
    log_sd += 0.05 * ds_;
    CHECK(dn == 0);
  }
  CHECK(mean == Approx(3.0).epsilon(1e-6));
  CHECK(std::exp(log_sd) == Approx(std::sqrt(2.5)).epsilon(1e-6));
}

TEST_CASE("gradients by arguments reject traces of other models") {
  auto const m = ms::dynamic_model(
      [](od::scope auto& cx, auto n) {
        return cx(od::tabulate, n, [&](auto) { return cx(od::sample<"x">, ds::normal(0, 1)); });
      },
      i64{2});
  auto const t = m.simulate(od::random_key(1));
  CHECK(std::get<0>(ms::argument_gradients(m, t)) == 0);
  CHECK_THROWS_AS(ms::argument_gradients(m.with(i64{1}), t), ms::model_error);
  CHECK_THROWS_AS(ms::argument_gradients(m.with(i64{3}), t), ms::model_error);
}
