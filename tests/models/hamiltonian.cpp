// Hamiltonian moves of some choices: the conditional density is that of the model, they leave the joint distribution invariant among moves
// of other choices, and they adapt.
#include "catch.hpp"
#include "models/model_posteriors.hpp"

#include <overdub/models/calibration.hpp>
#include <overdub/models/conditional_density.hpp>
#include <overdub/models/hamiltonian_move.hpp>
#include <overdub/models/mcmc.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace model_posteriors;
using Catch::Matchers::Contains;

od::random_key const key(1);

// A support that depends on another choice; a simplex; an assignment; and a branch.
inline constexpr auto mixed = od::fn<"mixed">([](od::scope auto& cx, auto n, auto prior) {
  auto const top = cx(od::sample<"top">, ds::gamma(3, 1));
  auto const part = cx(od::sample<"part">, ds::uniform(0, top));
  auto const shares = cx(od::sample<"shares">, ds::dirichlet(prior));
  auto const z = cx(od::sample<"z">, ds::categorical(shares));
  auto const wide = od::if_(
      z == 0, [&] { return part + 1; }, [&] { return 2 * top + 0.5; });
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const x = cx(od::sample<"x">, ds::normal(part, wide));
    return cx(od::sample<"y">, ds::student_t(4, x, shares[0] + 0.1));
  }));
});
auto model_of(i64 n) { return ms::model(fast(), mixed, n, vec{2, 3, 1}); }

inline constexpr auto switching = od::fn<"switching">([](od::scope auto& cx, auto mean) {
  auto const x = cx(od::sample<"x">, ds::normal(mean, 1));
  return od::if_(
      x > 0, [&] { return cx(od::sample<"more">, ds::normal(x, 1)); }, [&] { return x + 0.0; });
});

std::vector<double> at(ms::conditional_density& d, std::span<double const> q, double& log_density) {
  std::vector<double> gradient(q.size());
  log_density = d(q, gradient);
  return gradient;
}

} // namespace

TEST_CASE("the conditional density is that of the model up to a constant, with its gradient") {
  auto const m = model_of(3);
  for (i64 k = 0; k < 10; ++k) {
    ms::trace const start = m.simulate(key.at(k));
    ms::followed_trace t(start);
    ms::conditional_density d(
        m.core(), {m.core()->site_at("part"), m.core()->site_at("shares"), m.core()->site_at("x")});
    d.bind(t);
    REQUIRE(d.dimension() == 1 + 2 + 3);
    std::vector<double> q(d.numbers().begin(), d.numbers().end());
    double here = 0, there = 0;
    std::vector<double> const gradient = at(d, q, here);
    for (std::size_t i = 0; i < q.size(); ++i) {
      double const h = 1e-5;
      double up = 0, down = 0;
      std::vector<double> moved = q;
      moved[i] = q[i] + h, (void)at(d, moved, up);
      moved[i] = q[i] - h, (void)at(d, moved, down);
      CHECK(gradient[i] == Approx((up - down) / (2 * h)).epsilon(1e-5).margin(1e-6));
    }
    // Differences of it equal those of the score and of log |det J|, which is 0 for x.
    std::vector<double> moved = q;
    moved[4] += 0.7;
    (void)at(d, moved, there);
    d.set(t, moved);
    t.commit();
    CHECK(t.number(m.core()->site_at("x"), std::vector<i64>{1}) == Approx(q[4] + 0.7).epsilon(1e-12));
    CHECK(t.score() - start.score() == Approx(there - here).epsilon(1e-9).margin(1e-9));
    CHECK(t.as_trace().get<double>("top") == start.get<double>("top"));
    d.bind(t);
    for (std::size_t i = 0; i < q.size(); ++i)
      CHECK(d.numbers()[i] == Approx(moved[i]).epsilon(1e-9).margin(1e-9));
  }
}

TEST_CASE(
    "Hamiltonian moves, alternating with others, leave the joint distribution invariant", "[statistics]") {
  auto const m = model_of(2);
  auto const joint = [&]<class Trace>(std::type_identity<Trace>) {
    return ms::test_moves<Trace>(
        m, {"y"}, {}, key, ms::no_u_turn{"top", "part"}, ms::gibbs("z"), ms::no_u_turn{"shares", "x"});
  };
  inf::joint_test const followed = joint(std::type_identity<ms::followed_trace>{});
  INFO(followed);
  CHECK(followed.passed());
  CHECK(joint(std::type_identity<ms::reexecuted_trace>{}).passed());
}

TEST_CASE("Hamiltonian moves adapt in the warm-up, and copies are not adapted") {
  auto const m = ms::model(fast(), mixture, vec{0.5, 0.5}, vec{-3, 3}, i64{50});
  ms::trace const t = m.generate({{"mu", vec{-3, 3}}}, key).of;
  ms::no_u_turn move{"mu"};
  ms::followed_trace f(t);
  ms::move_record record;
  CHECK(move.step_size() == 0);
  for (std::size_t i = 0; i < 300; ++i) {
    move(f, key.at(static_cast<i64>(i)), record);
    move.adapt(i, 300);
  }
  move(f, key, record); // adapts by the last iteration
  double const adapted = move.step_size();
  CHECK((adapted > 0.1 && adapted < 3)); // in units of the posterior's deviations, which the metric has
  for (int i = 0; i < 10; ++i) move(f, key.at(i), record);
  CHECK(move.step_size() == adapted);
  CHECK((record.accepted == 311 && record.divergent < 20)); // while the step size is found
  ms::followed_trace of_more(
      ms::model(fast(), mixture, vec{0.3, 0.3, 0.4}, vec{-3, 0, 3}, i64{9}).simulate(key));
  move(of_more, key, record); // of another dimension: it restarts
  CHECK(move.step_size() != adapted);
  CHECK(ms::no_u_turn(move).step_size() == 0);
}

TEST_CASE("no_u_turn rejects discrete and observed choices, and ones on which the structure depends") {
  auto const m = model_of(2);
  ms::trace const t = m.simulate(key);
  auto const said = [&](ms::no_u_turn move, ms::trace const& of, ms::choice_map const& observed = {}) {
    ms::followed_trace f(of, observed);
    ms::move_record record;
    std::string text;
    try {
      for (i64 k = 0; k < 100; ++k) move(f, key.at(k), record);
    } catch (od::error const& e) {
      text = e.what();
    }
    return text;
  };
  CHECK(
      said(ms::no_u_turn{"top", "z"}, t) ==
      "overdub: the choice \"z\" is discrete, and has no gradient: move it by gibbs or from_prior");
  CHECK(
      said(ms::no_u_turn{"x"}, t, {{"x[1]", t.get<double>("x[1]")}}) ==
      "overdub: the choice \"x\" is observed, and does not move");
  CHECK_THAT(said(ms::no_u_turn{"tpo"}, t), Contains("never samples \"tpo\""));
  auto const s = ms::model(switching, 0.0);
  CHECK(
      said(ms::no_u_turn{"more"}, s.simulate(key)) ==
      "overdub: the choice \"more\" is not made in each trace, or not as often: Hamiltonian Monte Carlo "
      "moves among as "
      "many numbers each time; move it by random_walk");
  CHECK(
      said(ms::no_u_turn{"x"}, s.simulate(key)) ==
      "overdub: the choice \"x\" decides with others on which choices are made; move them by random_walk or "
      "from_prior");
}
